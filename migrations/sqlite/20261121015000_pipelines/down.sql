DROP TABLE jobs;
DROP TABLE pipelines;
DROP TABLE pipeline_numbers;
