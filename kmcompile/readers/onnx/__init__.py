"""ONNX models of support vector and linear operators."""
