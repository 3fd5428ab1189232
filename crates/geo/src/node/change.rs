//! Changes of a node, and their validation.

use kernel::{Faults, TextEnum as _, ids::NamespaceId, values::is_web_url};

use super::{GeoNode, SelectiveSync};

const LONGEST_NAME: usize = 255;
const LONGEST_URL: usize = 2048;
const MOST_SHARDS: usize = 100;
/// What a column of the widely used product holds.
const MOST: i64 = 2_147_483_647;

/// Fields of a node to change; unset ones stay, and have the defaults of `applied` in a new node.
#[derive(Clone, Debug, Default)]
pub struct NodeChange {
    pub name: Option<String>,
    pub url: Option<String>,
    pub internal_url: Option<Option<String>>,
    pub primary: Option<bool>,
    pub enabled: Option<bool>,
    pub files_max_capacity: Option<i64>,
    pub repos_max_capacity: Option<i64>,
    pub verification_max_capacity: Option<i64>,
    pub container_repositories_max_capacity: Option<i64>,
    pub minimum_reverification_interval: Option<i64>,
    pub sync_object_storage: Option<bool>,
    pub selective_sync_type: Option<Option<String>>,
    pub selective_sync_shards: Option<Vec<String>>,
    pub selective_sync_namespace_ids: Option<Vec<NamespaceId>>,
}

impl NodeChange {
    /// The node as it is to be; what is wrong with single fields is added to `faults`.
    pub(super) fn applied(self, old: GeoNode, faults: &mut Faults) -> GeoNode {
        let name = self.name.map(|name| name.trim().to_owned()).unwrap_or(old.name);
        let url = self.url.map(|url| with_slash(&url)).unwrap_or(old.url);
        let internal_url = match self.internal_url {
            Some(given) => given.map(|url| with_slash(&url)).filter(|url| !url.is_empty()),
            None => old.internal_url,
        };
        let selective_sync_type = match self.selective_sync_type {
            Some(given) => sync_type(given.as_deref(), faults),
            None => old.selective_sync_type,
        };
        let shards = match self.selective_sync_shards {
            Some(names) => shards(names, faults),
            None => old.selective_sync_shards,
        };
        let new = GeoNode {
            internal_url: internal_url.filter(|internal| *internal != url),
            name,
            url,
            primary: self.primary.unwrap_or(old.primary),
            enabled: self.enabled.unwrap_or(old.enabled),
            files_max_capacity: self.files_max_capacity.unwrap_or(old.files_max_capacity),
            repos_max_capacity: self.repos_max_capacity.unwrap_or(old.repos_max_capacity),
            verification_max_capacity: self
                .verification_max_capacity
                .unwrap_or(old.verification_max_capacity),
            container_repositories_max_capacity: self
                .container_repositories_max_capacity
                .unwrap_or(old.container_repositories_max_capacity),
            minimum_reverification_interval: self
                .minimum_reverification_interval
                .unwrap_or(old.minimum_reverification_interval),
            sync_object_storage: self.sync_object_storage.unwrap_or(old.sync_object_storage),
            selective_sync_type,
            selective_sync_shards: shards,
            ..old
        };
        check(&new, faults);
        new
    }
}

fn check(node: &GeoNode, faults: &mut Faults) {
    if node.name.is_empty() {
        faults.add("name", "can't be blank");
    }
    faults.at_most("name", Some(&node.name), LONGEST_NAME);
    if node.url.is_empty() {
        faults.add("url", "can't be blank");
    } else if !is_web_url(&node.url) {
        faults.add("url", "must be a valid URL");
    }
    faults.at_most("url", Some(&node.url), LONGEST_URL);
    if node.internal_url.as_deref().is_some_and(|url| !is_web_url(url)) {
        faults.add("internal_url", "must be a valid URL");
    }
    faults.at_most("internal_url", node.internal_url.as_deref(), LONGEST_URL);
    if node.primary && !node.enabled {
        faults.add("enabled", "Geo primary node cannot be disabled");
    }
    for (field, capacity) in [
        ("files_max_capacity", node.files_max_capacity),
        ("repos_max_capacity", node.repos_max_capacity),
        ("verification_max_capacity", node.verification_max_capacity),
        ("container_repositories_max_capacity", node.container_repositories_max_capacity),
    ] {
        faults.range(field, Some(capacity), 0..=MOST);
    }
    let days = node.minimum_reverification_interval;
    faults.range("minimum_reverification_interval", Some(days), 1..=MOST);
}

fn with_slash(url: &str) -> String {
    match url.trim() {
        "" => String::new(),
        url if url.ends_with('/') => url.to_owned(),
        url => format!("{url}/"),
    }
}

fn sync_type(given: Option<&str>, faults: &mut Faults) -> Option<SelectiveSync> {
    let given = given.filter(|word| !word.trim().is_empty())?;
    let found = SelectiveSync::find(given);
    if found.is_none() {
        faults.add("selective_sync_type", "is not included in the list");
    }
    found
}

fn shards(names: Vec<String>, faults: &mut Faults) -> String {
    let mut kept: Vec<String> = Vec::new();
    for name in names.into_iter().map(|name| name.trim().to_owned()) {
        if !name.is_empty() && !kept.contains(&name) && kept.len() <= MOST_SHARDS {
            faults.at_most("selective_sync_shards", Some(&name), LONGEST_NAME);
            kept.push(name);
        }
    }
    if kept.len() > MOST_SHARDS {
        faults.add("selective_sync_shards", format!("is too long (maximum is {MOST_SHARDS})"));
    }
    serde_json::Value::from(kept).to_string()
}
