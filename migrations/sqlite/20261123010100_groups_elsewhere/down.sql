DROP INDEX user_accounts_provisioned_by;
DROP TABLE saml_group_links;
DROP TABLE ldap_group_links;
