//! A record that many rows of a page repeat.

use std::sync::Arc;

use kernel::{Error, Result};
use serde::{Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

/// JSON that is written once and copied into each row that shows it.
#[derive(Clone, Debug)]
pub struct SharedJson(Arc<RawValue>);

impl SharedJson {
    pub fn new(record: &impl Serialize) -> Result<Self> {
        let written = to_raw_value(record).map_err(Error::internal)?;
        Ok(Self(written.into()))
    }
}

impl Serialize for SharedJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::SharedJson;

    #[test]
    fn a_shared_record_reads_like_one_of_its_own() {
        let record = json!({ "name": "a \"b\"", "number": 1.5, "none": null });
        let shared = SharedJson::new(&record).unwrap();
        let rows = serde_json::to_string(&[shared.clone(), shared]).unwrap();
        assert_eq!(rows, json!([record, record]).to_string());
    }
}
