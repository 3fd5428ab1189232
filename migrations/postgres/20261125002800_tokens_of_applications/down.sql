DROP TABLE oauth_client_tokens;
