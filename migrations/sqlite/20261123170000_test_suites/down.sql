DROP TABLE test_suites;
