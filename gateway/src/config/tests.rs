//! Settings as they are given, and what is refused of them.

use super::{Config, ContentStorage, SETTINGS};

#[test]
fn every_setting_is_documented() {
    let values = serde_json::to_value(Config::default()).unwrap();
    let mut names: Vec<&String> = values.as_object().unwrap().keys().collect();
    names.sort();
    let mut documented: Vec<&str> = SETTINGS.iter().map(|(name, _)| *name).collect();
    documented.sort_unstable();
    assert_eq!(names, documented);
}

#[test]
fn every_setting_is_in_the_operators_manual_with_its_default() {
    let manual = include_str!("../../../docs/operating.md");
    let defaults = serde_json::to_value(Config::default()).unwrap();
    for (name, text) in SETTINGS {
        let start = format!("| `{name}`");
        let row = manual.lines().find(|line| line.starts_with(&start));
        let row = row.unwrap_or_else(|| panic!("{name} is not in the manual"));
        let default = defaults[name].to_string().replace('"', "");
        assert!(default == "null" || row.contains(&default), "{name}: {default}");
        let said = text.split(" [").next().unwrap_or_default().replace('`', "");
        assert!(row.replace('`', "").contains(&said), "{name}: {text}");
    }
}

#[test]
fn a_bucket_is_refused_unless_all_of_it_is_told() {
    let text = |value: &str| Some(value.to_owned());
    let whole = Config {
        s3_url: text("s3://forge/a"),
        s3_endpoint: text("http://127.0.0.1:9000/"),
        s3_access_key: text("key"),
        s3_secret_key: text("secret"),
        ..Config::default()
    };
    let refused = |config: Config| config.check().unwrap_err().to_string();

    let ContentStorage::Bucket(bucket) = whole.contents().unwrap() else { panic!("no bucket") };
    assert_eq!((bucket.name.as_str(), bucket.prefix.as_str()), ("forge", "a"));
    assert_eq!(bucket.endpoint.as_deref(), Some("http://127.0.0.1:9000"));
    assert!(!format!("{bucket:?}").contains("secret"));
    let other = Config { s3_url: text("https://forge"), ..whole.clone() };
    assert!(refused(other).starts_with("s3_url must be s3://BUCKET"));
    let keyless = Config { s3_secret_key: None, ..whole.clone() };
    assert_eq!(refused(keyless), "s3_url needs s3_secret_key");
    let odd = Config { s3_endpoint: text("127.0.0.1:9000"), ..whole.clone() };
    assert!(refused(odd).starts_with("s3_endpoint must begin with http://"));
    let nowhere = Config { s3_url: None, ..whole };
    assert_eq!(refused(nowhere), "s3_endpoint and s3_secret_key need s3_url");
}

#[test]
fn an_address_without_a_port_is_refused() {
    let config = Config { listen: "localhost".to_owned(), ..Config::default() };
    assert!(config.check().unwrap_err().to_string().starts_with("listen must be HOST:PORT"));
}

#[test]
fn a_file_without_authorities_is_refused() {
    let with = |path: &str| Config { certificate_roots: Some(path.into()), ..Config::default() };
    assert!(with("/nowhere.pem").roots().is_err());
    let refused = with("/dev/null").roots().unwrap_err().to_string();
    assert_eq!(refused, "there is no certificate in /dev/null");
}

#[test]
fn a_revocation_list_that_cannot_be_read_is_refused() {
    const AUTHORITY: &str = include_str!("../../tests/support/x509/curves.pem");
    const LIST: &str = include_str!("../../tests/support/x509/curves.crl");
    const BROKEN: &str = "-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("roots.pem");
    let config = Config { certificate_roots: Some(path.clone()), ..Config::default() };

    std::fs::write(&path, [AUTHORITY, LIST].concat()).unwrap();
    assert!(config.roots().is_ok());

    std::fs::write(&path, [AUTHORITY, BROKEN, LIST].concat()).unwrap();
    let refused = config.roots().unwrap_err().to_string();
    assert!(refused.starts_with("a revocation list in "), "{refused}");
}

#[test]
fn a_proxy_that_is_no_address_is_refused() {
    let with = |text: &str| Config { trusted_proxies: Some(text.to_owned()), ..Config::default() };
    assert!(with("127.0.0.1, 10.0.0.0/8").check().is_ok());
    let refused = with("proxy.example.com").check().unwrap_err().to_string();
    assert!(refused.starts_with("trusted_proxies must be addresses"), "{refused}");
}
