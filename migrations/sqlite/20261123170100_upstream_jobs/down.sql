DROP TABLE mirrored_pipelines;
DROP TABLE inherited_variables;
