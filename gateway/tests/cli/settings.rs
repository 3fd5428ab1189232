//! Where settings come from, and what is said when they are wrong.

use crate::support::Installation;

/// The line of `forgeway config` about one setting.
fn line(table: &str, name: &str) -> String {
    let found = table.lines().find(|line| line.split_whitespace().next() == Some(name));
    found.unwrap_or_else(|| panic!("no {name} in {table}")).to_owned()
}

fn shows(table: &str, name: &str, value: &str, source: &str) {
    let line = line(table, name);
    assert!(line.contains(&format!(" {value} ")), "{line}");
    assert!(line.contains(&format!(" {source} ")), "{line}");
}

#[test]
fn a_flag_wins_over_the_environment_over_the_file_over_the_default() {
    let mut forge = Installation::bare();
    let file = forge.folder.path().join("forgeway.toml");
    std::fs::write(&file, "workers = 3\nlog = \"warn\"\nexternal_url = \"http://file.test\"\n")
        .unwrap();
    forge.set("FORGEWAY_LOG", "error");
    forge.set("FORGEWAY_EXTERNAL_URL", "http://environment.test");

    let table = forge.run(&["config", "--external-url", "http://flag.test"]).ok();

    shows(&table, "external_url", "http://flag.test", "--external-url");
    shows(&table, "log", "error", "FORGEWAY_LOG");
    shows(&table, "workers", "3", "forgeway.toml");
    shows(&table, "request_seconds", "10", "default");
}

#[test]
fn a_flag_that_repeats_the_default_is_still_a_flag() {
    let mut forge = Installation::bare();
    forge.set("FORGEWAY_LOG", "error");

    let table = forge.run(&["config", "--log", "info"]).ok();

    shows(&table, "log", "info", "--log");
}

#[test]
fn secrets_are_not_shown() {
    let mut forge = Installation::new();
    forge.set("FORGEWAY_DATABASE_URL", "postgres://ada:sesame@db/forge");

    let table = forge.run(&["config"]).ok();

    shows(&table, "database_url", "(set)", "FORGEWAY_DATABASE_URL");
    assert!(!table.contains("sesame") && !table.contains(crate::support::TOKEN), "{table}");
}

#[test]
fn a_password_may_look_like_a_number() {
    let mut forge = Installation::bare();
    forge.set("FORGEWAY_ROOT_PASSWORD", "1234567890");
    forge.set("FORGEWAY_ROOT_TOKEN", "true");
    forge.set("FORGEWAY_WORKERS", "2");

    let table = forge.run(&["config"]).ok();

    shows(&table, "root_password", "(set)", "FORGEWAY_ROOT_PASSWORD");
    shows(&table, "workers", "2", "FORGEWAY_WORKERS");
}

#[test]
fn a_misspelt_variable_is_pointed_out() {
    let mut forge = Installation::bare();
    forge.set("FORGEWAY_LISTN", "127.0.0.1:1");

    assert!(forge.run(&["config"]).ok().contains("FORGEWAY_LISTN is set and is no setting"));
}

#[test]
fn what_is_wrong_in_the_file_is_named() {
    let forge = Installation::bare();
    let refused = |text: &str| {
        std::fs::write(forge.folder.path().join("forgeway.toml"), text).unwrap();
        forge.run(&["config"]).failed()
    };

    let unknown = refused("lisen = \"127.0.0.1:80\"\n");
    assert!(unknown.contains("lisen") && unknown.contains("forgeway.toml"), "{unknown}");
    let wrong = refused("workers = \"many\"\n");
    assert!(wrong.contains("workers"), "{wrong}");
    let broken = refused("workers = \n");
    assert!(broken.contains("forgeway.toml"), "{broken}");
    let zero = refused("request_seconds = 0\n");
    assert!(zero.contains("must be above 0"), "{zero}");
}

#[test]
fn what_is_wrong_on_the_command_line_is_named() {
    let forge = Installation::bare();

    let missing = forge.run(&["--config", "nowhere.toml", "config"]).failed();
    assert!(missing.contains("there is no settings file nowhere.toml"), "{missing}");
    let port = forge.run(&["--listen", "localhost", "config"]).failed();
    assert!(port.contains("listen must be HOST:PORT"), "{port}");
    let scheme = forge.run(&["--database-url", "mysql://x", "config"]).failed();
    assert!(scheme.contains("database_url must begin with postgres://"), "{scheme}");
}
