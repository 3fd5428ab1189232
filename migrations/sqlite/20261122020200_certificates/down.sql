DROP TABLE x509_certificates;
DROP TABLE x509_issuers;
