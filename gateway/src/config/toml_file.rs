//! Settings files in TOML, for figment.

use figment::providers::Format;
use serde::de::DeserializeOwned;

/// As figment's own provider, by the version of `toml` that everybody else here uses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Toml;

impl Format for Toml {
    type Error = toml::de::Error;

    const NAME: &'static str = "TOML";

    fn from_str<T: DeserializeOwned>(text: &str) -> Result<T, Self::Error> {
        toml::from_str(text)
    }
}
