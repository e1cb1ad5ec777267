"""Models of OpenCV: cv::ml::SVM and CvSVM."""
