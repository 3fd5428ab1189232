//! The settings with their meanings, and the table that shows where each value comes from.

use super::{LoadedConfig, environment::variable};

/// One line of documentation for each setting, in the order in which they are shown.
pub const SETTINGS: [(&str, &str); 37] = [
    ("listen", "address and port to serve on"),
    ("data", "folder for repositories and the SQLite database"),
    (
        "external_url",
        "how the world reaches this server; answers and links begin with it [http://LISTEN]",
    ),
    (
        "trusted_proxies",
        "addresses and networks, joined by commas, whose X-Forwarded-For says where a request came from",
    ),
    (
        "inner_networks",
        "internal addresses and networks, joined by commas, that requests on somebody's word may reach [only the public internet]",
    ),
    ("database_url", "postgres://USER:PASSWORD@HOST/NAME instead of the embedded SQLite"),
    (
        "root_password",
        "password of the administrator, used at the first start only [random, shown once]",
    ),
    (
        "root_token",
        "access token of the administrator, used at the first start only [random, shown once]",
    ),
    ("log", "what is logged, as in `info` or `forgeway_repo=debug,info`"),
    ("log_format", "human or json"),
    ("workers", "threads that serve requests; 0 is one per core"),
    ("max_connections", "connections held open at once, over all threads"),
    ("request_seconds", "time a client has to send its request's head, and to begin with its body"),
    (
        "body_limit",
        "bytes of a request body, all parts of a form together, pushes and uploads excepted",
    ),
    ("upload_limit", "bytes of one uploaded file"),
    ("push_limit", "bytes of one git push; 0 is no limit"),
    ("object_limit", "bytes of one file in a git push, unpacked; 0 is no limit"),
    ("rate_limit_user", "requests a minute by one signed-in person; 0 is no limit"),
    (
        "rate_limit_address",
        "requests a minute from one address without a credential; 0 is no limit",
    ),
    ("rate_limit_archive", "archives a minute for one person or address; 0 is no limit"),
    (
        "rate_limit_namespace",
        "questions a minute by one person whether a path is taken; 0 is no limit",
    ),
    ("rate_limit_person", "people that one person looks up by id in ten minutes; 0 is no limit"),
    ("rate_limit_note", "notes that one person writes in a minute; 0 is no limit"),
    ("rate_limit_issue", "issues that one person writes in a minute; 0 is no limit"),
    ("rate_limit_alert", "calls of monitors that one project takes in a minute; 0 is no limit"),
    (
        "rate_limit_invite",
        "people and addresses invited in a day into one top-level group and all in it; 0 is no limit",
    ),
    (
        "mail_url",
        "smtp://USER:PASSWORD@HOST:PORT or smtps://… that takes letters; without it they are only logged",
    ),
    (
        "mail_from",
        "who signs letters, as in `Forge <forge@example.com>` [forgeway@ and the host of external_url]",
    ),
    (
        "certificate_roots",
        "PEM file of the authorities whose word on certificates of signers is taken [those of the system]",
    ),
    (
        "s3_url",
        "s3://BUCKET or s3://BUCKET/PREFIX, where artifacts, uploads, avatars and LFS objects are kept [the data folder]",
    ),
    ("s3_endpoint", "http:// or https:// address of an S3-compatible server [that of AWS]"),
    ("s3_region", "region of the bucket"),
    ("s3_access_key", "access key id for the bucket"),
    ("s3_secret_key", "secret access key for the bucket"),
    (
        "with_runner",
        "whose jobs a built-in runner does on this machine: administrators, all, or projects and groups, joined by commas [no runner]",
    ),
    ("geo_node", "name of the Geo node that this server runs as [external_url]"),
    (
        "geo_role",
        "primary, or secondary: a server on a standby of the primary's PostgreSQL, which takes no writes",
    ),
];

const SECRET: [&str; 5] =
    ["root_password", "root_token", "database_url", "mail_url", "s3_secret_key"];

impl LoadedConfig {
    /// Every setting with its value, its source and its meaning. Secrets are not shown.
    pub fn table(&self) -> String {
        let values = serde_json::to_value(&self.config).unwrap_or_default();
        let mut table = String::new();
        for (name, text) in SETTINGS {
            let value = match &values[name] {
                serde_json::Value::Null => "-".to_owned(),
                _ if SECRET.contains(&name) => "(set)".to_owned(),
                serde_json::Value::String(text) => text.clone(),
                value => value.to_string(),
            };
            let source = self.source(name);
            table += &format!("{name:<20} {value:<28} {source:<28} {text}\n");
        }
        for name in &self.unknown {
            table += &format!("{name} is set and is no setting\n");
        }
        table
    }

    fn source(&self, name: &str) -> String {
        if self.flags.iter().any(|flag| flag == name) {
            return format!("--{}", name.replace('_', "-"));
        }
        let Some(metadata) = self.figment.find_metadata(name) else { return "default".to_owned() };
        match &metadata.source {
            Some(figment::Source::File(path)) => path.display().to_string(),
            _ if metadata.name == "the environment" => variable(name),
            _ => "default".to_owned(),
        }
    }
}
