//! Settings that are given as variables of the environment.

use figment::{
    Metadata, Profile, Provider,
    value::{Dict, Map, Value},
};

use super::{Config, SETTINGS};

const PREFIX: &str = "FORGEWAY_";
/// Not for the server: where the tests of this program find PostgreSQL.
const FOR_TESTS: &str = "FORGEWAY_TEST_";

/// The variables that name settings. Their text is taken as it is: a password may be all digits.
pub(super) struct Environment(Vec<(String, String)>);

impl Environment {
    #[expect(clippy::disallowed_methods, reason = "this file is the one reader of the environment")]
    pub(super) fn read() -> Self {
        let given = SETTINGS.iter().filter_map(|(name, _)| {
            let value = std::env::var(variable(name)).ok()?;
            (!value.is_empty()).then(|| ((*name).to_owned(), value))
        });
        Self(given.collect())
    }
}

impl Provider for Environment {
    fn metadata(&self) -> Metadata {
        Metadata::named("the environment").interpolater(|_, path| variable(&path.join(".")))
    }

    fn data(&self) -> figment::Result<Map<Profile, Dict>> {
        let defaults = serde_json::to_value(Config::default()).unwrap_or_default();
        let read = |name: &String, text: &String| match text.parse::<u64>() {
            Ok(number) if defaults[name].is_number() => Value::from(number),
            _ => Value::from(text.clone()),
        };
        let values = self.0.iter().map(|(name, text)| (name.clone(), read(name, text)));
        Ok(Map::from([(Profile::Default, values.collect())]))
    }
}

pub(super) fn variable(name: &str) -> String {
    format!("{PREFIX}{}", name.to_uppercase())
}

pub(super) fn unknown_variables() -> Vec<String> {
    let known: Vec<String> = SETTINGS.iter().map(|(name, _)| variable(name)).collect();
    let mut unknown: Vec<String> = std::env::vars_os()
        .filter_map(|(name, _)| name.into_string().ok())
        .filter(|name| name.starts_with(PREFIX) && !name.starts_with(FOR_TESTS))
        .filter(|name| !known.contains(name))
        .collect();
    unknown.sort();
    unknown
}

/// The search path of the process, for finding git.
#[expect(clippy::disallowed_methods, reason = "this file is the one reader of the environment")]
pub fn search_path() -> std::ffi::OsString {
    std::env::var("PATH").unwrap_or_else(|_| "/usr/local/bin:/usr/bin:/bin".to_owned()).into()
}
