import weka.classifiers.functions.LibSVM;
import weka.core.Instances;
import weka.core.SerializationHelper;
import weka.core.converters.ConverterUtils.DataSource;

/** Trains Weka's LibSVM on train.arff, saves it as weka.model, and prints its labels. */
public class Train {
    public static void main(String[] options) throws Exception {
        Instances data = DataSource.read("train.arff");
        data.setClassIndex(data.numAttributes() - 1);
        LibSVM model = new LibSVM();
        model.setOptions(options);
        model.buildClassifier(data);
        SerializationHelper.write("weka.model", model);
        for (int i = 0; i < data.numInstances(); i++) {
            System.out.println("label " + model.classifyInstance(data.instance(i)));
        }
    }
}
