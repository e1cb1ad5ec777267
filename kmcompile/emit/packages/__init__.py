"""The C as a part of a framework: one module and one folder of templates a framework."""
