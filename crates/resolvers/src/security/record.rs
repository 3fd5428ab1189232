//! An alert as a value.

use std::sync::Arc;

use graphql::Value;
use security::alert::Alert;

use crate::{context::Context, pipelines::LocatedProject};

/// An alert of a project whose alerts the caller may see.
#[derive(Debug)]
pub struct AlertRecord {
    pub home: Arc<LocatedProject>,
    pub row: Alert,
}

impl AlertRecord {
    /// The address of the alert's page.
    pub fn url(&self, context: &Context) -> String {
        let (path, iid) = (&self.home.facts().full_path, self.row.iid);
        context.forge.urls.at(&format!("{path}/-/alert_management/{iid}/details"))
    }
}

pub fn alert(home: Arc<LocatedProject>, row: Alert) -> Value {
    Value::object("AlertManagementAlert", Arc::new(AlertRecord { home, row }))
}
