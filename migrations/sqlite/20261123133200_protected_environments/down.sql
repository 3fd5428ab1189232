DROP TABLE deployment_approvals;
DROP TABLE protected_environment_access;
DROP TABLE protected_environments;
