//! A commit whose files are a table.

use std::{collections::BTreeMap, sync::Arc};

use forgeway_ci::config::input::Tree;
use kernel::Result;

#[derive(Default)]
pub(crate) struct Files(pub(crate) BTreeMap<String, String>);

impl Files {
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        Self(files.iter().map(|(path, text)| ((*path).into(), (*text).into())).collect())
    }
}

impl Tree for Files {
    fn project(&self) -> &str {
        "group/project"
    }

    fn sha(&self) -> &str {
        "c0ffee"
    }

    fn text(&self, path: &str) -> Result<Option<String>> {
        Ok(self.0.get(path).cloned())
    }

    fn fingerprint(&self, path: &str) -> Result<Option<String>> {
        Ok(self.0.get(path).cloned())
    }

    fn paths(&self) -> Result<Arc<[String]>> {
        Ok(self.0.keys().cloned().collect())
    }

    fn changed_since(&self, _: &str) -> Result<Option<Vec<String>>> {
        Ok(None)
    }
}
