//! Settings that nobody set.

use std::path::PathBuf;

use geo::Role;

use super::{Config, LogFormat};
use crate::app::Limits;

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:8080".to_owned(),
            data: PathBuf::from("forgeway-data"),
            external_url: None,
            trusted_proxies: None,
            inner_networks: None,
            database_url: None,
            root_password: None,
            root_token: None,
            log: "info".to_owned(),
            log_format: LogFormat::Human,
            workers: 0,
            max_connections: 25_000,
            request_seconds: 10,
            body_limit: Limits::default().body,
            upload_limit: Limits::default().upload,
            push_limit: 0,
            object_limit: Limits::default().object,
            rate_limit_user: 600_000,
            rate_limit_address: 300_000,
            rate_limit_archive: 5,
            rate_limit_namespace: 20,
            rate_limit_person: 300,
            rate_limit_note: 300,
            rate_limit_issue: 300,
            rate_limit_alert: 0,
            rate_limit_invite: 0,
            mail_url: None,
            mail_from: None,
            certificate_roots: None,
            s3_url: None,
            s3_endpoint: None,
            s3_region: "us-east-1".to_owned(),
            s3_access_key: None,
            s3_secret_key: None,
            with_runner: None,
            geo_node: None,
            geo_role: Role::Primary,
        }
    }
}
