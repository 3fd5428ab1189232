-- Certificates that signatures were made with, and their issuers: each has a number, and is known by its digest.
CREATE TABLE x509_issuers (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    digest TEXT NOT NULL UNIQUE,
    created_at BIGINT NOT NULL
);
CREATE TABLE x509_certificates (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    issuer_id BIGINT NOT NULL REFERENCES x509_issuers (id),
    digest TEXT NOT NULL UNIQUE,
    created_at BIGINT NOT NULL
);
