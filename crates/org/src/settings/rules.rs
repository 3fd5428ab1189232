//! Rules between several settings.

use kernel::{Faults, Result, values::is_web_url};
use serde_json::{Map, Value};

use super::{
    document::{Change, SettingValues},
    table,
};
use crate::namespace::Networks;

/// Refuses values that do not fit together, as far as a request touches them: what was stored before a rule existed keeps nobody
/// from changing something else.
pub(super) fn check(
    values: &Map<String, Value>,
    given: &SettingValues,
    changes: &[Change],
) -> Result<()> {
    let rules = Rules { values, given, changes };
    let mut faults = Faults::default();
    rules.asset_proxy(&mut faults);
    rules.domains(&mut faults);
    rules.visibility(&mut faults);
    rules.timeouts(&mut faults);
    rules.housekeeping(&mut faults);
    rules.paths(&mut faults);
    rules.client_key(&mut faults);
    rules.spam_check(&mut faults);
    rules.geo_networks(&mut faults);
    rules.grafana(&mut faults);
    rules.search_urls(&mut faults);
    faults.into_result()
}

struct Rules<'a> {
    values: &'a Map<String, Value>,
    given: &'a SettingValues,
    changes: &'a [Change],
}

impl Rules<'_> {
    fn value(&self, name: &str) -> &Value {
        self.values.get(name).unwrap_or_else(|| table::default(name))
    }

    fn touches(&self, names: &[&str]) -> bool {
        self.given.0.iter().any(|(setting, _)| names.contains(&setting.name))
    }

    fn changes(&self, name: &str) -> bool {
        self.changes.iter().any(|change| change.name == name)
    }

    fn is_on(&self, name: &str) -> bool {
        self.value(name).as_bool().unwrap_or_default()
    }

    fn is_blank(&self, name: &str) -> bool {
        self.value(name).as_str().unwrap_or_default().trim().is_empty()
    }

    fn number(&self, name: &str) -> i64 {
        self.value(name).as_i64().unwrap_or_default()
    }

    fn words(&self, name: &str) -> Vec<&str> {
        self.value(name).as_array().into_iter().flatten().filter_map(Value::as_str).collect()
    }

    fn asset_proxy(&self, faults: &mut Faults) {
        const NEEDED: [&str; 2] = ["asset_proxy_url", "asset_proxy_secret_key"];
        if !self.is_on("asset_proxy_enabled")
            || !self.touches(&["asset_proxy_enabled", NEEDED[0], NEEDED[1]])
        {
            return;
        }
        for name in NEEDED.into_iter().filter(|name| self.is_blank(name)) {
            faults.add(name, "can't be blank");
        }
    }

    /// Nodes are heard from these networks alone: a list that nobody can read would shut all of them out.
    fn geo_networks(&self, faults: &mut Faults) {
        const LIST: &str = "geo_node_allowed_ips";
        if !self.touches(&[LIST]) {
            return;
        }
        if self.is_blank(LIST) {
            faults.add(LIST, "can't be blank");
        } else if Networks::parse(self.value(LIST).as_str().unwrap_or_default()).is_none() {
            faults.add(
                LIST,
                "must be addresses and networks, joined by commas, as in 10.1.0.0/16, ::/0",
            );
        }
    }

    fn domains(&self, faults: &mut Faults) {
        const LIST: &str = "domain_denylist";
        let touched = self.touches(&["domain_denylist_enabled", LIST]);
        if touched && self.is_on("domain_denylist_enabled") && self.words(LIST).is_empty() {
            faults.add(LIST, "Domain denylist cannot be empty if denylist is enabled.");
        }
    }

    fn visibility(&self, faults: &mut Faults) {
        const RESTRICTED: &str = "restricted_visibility_levels";
        let restricted = self.words(RESTRICTED);
        for name in ["default_group_visibility", "default_project_visibility"] {
            let level = self.value(name).as_str().unwrap_or_default();
            if self.touches(&[name, RESTRICTED]) && restricted.contains(&level) {
                faults.add(name, "cannot be set to a restricted visibility level");
            }
        }
    }

    fn timeouts(&self, faults: &mut Faults) {
        self.ascending(
            &["gitaly_timeout_fast", "gitaly_timeout_medium", "gitaly_timeout_default"],
            faults,
        );
    }

    fn housekeeping(&self, faults: &mut Faults) {
        self.ascending(
            &[
                "housekeeping_incremental_repack_period",
                "housekeeping_full_repack_period",
                "housekeeping_gc_period",
            ],
            faults,
        );
    }

    /// Each number is at least the one before.
    fn ascending(&self, names: &[&str], faults: &mut Faults) {
        if !self.touches(names) {
            return;
        }
        for pair in names.windows(2) {
            let [lower, upper] = pair else { continue };
            let least = self.number(lower);
            if self.number(upper) < least {
                faults.add(upper, format!("must be greater than or equal to {least}"));
            }
        }
    }

    fn paths(&self, faults: &mut Faults) {
        const NAME: &str = "default_ci_config_path";
        let path = self.value(NAME).as_str().unwrap_or_default();
        let odd = path.starts_with('/') || path.split(['/', '\\']).any(|part| part == "..");
        if self.touches(&[NAME]) && odd {
            faults.add(NAME, "cannot include leading slash or directory traversal.");
        }
    }

    /// A path of this host, or an address.
    fn grafana(&self, faults: &mut Faults) {
        const NAME: &str = "grafana_url";
        let place = self.value(NAME).as_str().unwrap_or_default();
        let odd = |sign: char| sign.is_whitespace() || sign.is_control() || sign == '\\';
        let is_path = place.starts_with('/') && !place.starts_with("//") && !place.contains(odd);
        if self.touches(&[NAME]) && !place.is_empty() && !is_path && !is_web_url(place) {
            faults.add(NAME, table::url_fault(place));
        }
    }

    /// Addresses joined by commas. Programs that keep all settings in a file give back one that was stored before this rule.
    fn search_urls(&self, faults: &mut Faults) {
        const NAME: &str = "elasticsearch_url";
        let list = self.value(NAME).as_str().unwrap_or_default();
        let is_sound = list.split(',').all(|url| is_web_url(url.trim()));
        if self.changes(NAME) && !self.is_blank(NAME) && !is_sound {
            faults.add(NAME, "only supports valid HTTP(S) URLs.");
        }
    }

    /// The service is spoken to by gRPC.
    fn spam_check(&self, faults: &mut Faults) {
        const NAME: &str = "spam_check_endpoint_url";
        let address = self.value(NAME).as_str().unwrap_or_default();
        let is_known = ["grpc://", "tls://"].iter().any(|scheme| {
            address.strip_prefix(scheme).is_some_and(|host| {
                !host.is_empty() && !host.contains(|sign: char| sign.is_whitespace())
            })
        });
        if self.touches(&[NAME]) && !self.is_blank(NAME) && !is_known {
            faults.add(NAME, "is blocked: Only allowed schemes are tls, grpc");
        }
    }

    fn client_key(&self, faults: &mut Faults) {
        const PAIR: [&str; 2] = ["external_auth_client_cert", "external_auth_client_key"];
        if self.touches(&PAIR) && !self.is_blank(PAIR[0]) && self.is_blank(PAIR[1]) {
            faults.add(PAIR[1], "can't be blank");
        }
    }
}
