"""Write a program as C: views of its stages, and the templates that they fill."""
