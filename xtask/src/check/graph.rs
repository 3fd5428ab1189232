//! The lines between crates lead down only, and no domain names another.

use anyhow::Result;

use super::outcome::{Outcome, none};
use crate::workspace::{Package, packages};

/// What the product is made of, beside the domains.
const BELOW_FORGE: &[&str] =
    &["kernel", "db", "worker", "markup", "objects", "outbound", "secrets", "signatures"];

const DOMAINS: &[&str] =
    &["org", "repo", "review", "ci", "deployments", "runners", "security", "admin", "geo"];

/// Crates that speak HTTP; only the gateway may.
const WEB: &[&str] = &["actix"];

pub(super) fn check() -> Result<Outcome> {
    let found = packages()?.iter().flat_map(findings).collect::<Vec<_>>();
    none(&found)
}

/// What a crate may name; `None` when the map has no place for it.
fn allowed(name: &str) -> Option<Vec<&'static str>> {
    Some(match name {
        "graphql" | "job-runner" | "kernel" | "markup" | "outbound" | "secrets" | "signatures"
        | "xtask" => vec![],
        "db" => vec!["kernel"],
        "objects" => vec!["kernel"],
        "worker" => vec!["kernel", "db"],
        "forge" => [BELOW_FORGE, DOMAINS].concat(),
        "entities" => [BELOW_FORGE, DOMAINS, &["forge"]].concat(),
        "resolvers" => [BELOW_FORGE, DOMAINS, &["forge", "entities", "graphql"]].concat(),
        "gateway" => {
            let above = ["forge", "entities", "graphql", "resolvers", "job-runner"];
            [BELOW_FORGE, DOMAINS, &above].concat()
        }
        "org" => vec!["kernel", "db", "worker", "secrets", "signatures"],
        "ci" => vec!["kernel", "db", "worker", "secrets"],
        "repo" => vec!["kernel", "db", "worker", "objects"],
        "admin" => vec!["kernel", "db", "worker", "secrets"],
        "runners" => vec!["kernel", "db", "secrets"],
        "security" | "geo" => vec!["kernel", "db", "worker", "secrets"],
        domain if DOMAINS.contains(&domain) => vec!["kernel", "db", "worker"],
        _ => return None,
    })
}

fn findings(package: &Package) -> Vec<String> {
    let name = &package.name;
    let Some(allowed) = allowed(name) else {
        return vec![format!(
            "{name}: a crate that the map in xtask/src/check/graph.rs does not show"
        )];
    };
    let mut found = Vec::new();
    for dependency in &package.dependencies {
        let own = dependency.package.strip_prefix("forgeway-");
        if let Some(target) = own.filter(|target| *target != name && !allowed.contains(target)) {
            found.push(format!("{name} names {target}"));
        }
        if name != "gateway" && WEB.iter().any(|web| dependency.package.starts_with(web)) {
            found.push(format!("{name} names {}, which only the gateway may", dependency.package));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::{Dependency, Kind};

    fn package(name: &str, dependencies: &[&str]) -> Package {
        let dependencies = dependencies.iter().map(|package| Dependency {
            package: (*package).to_owned(),
            identifier: package.replace('-', "_"),
            kind: Kind::Development,
        });
        Package {
            name: name.to_owned(),
            id: String::new(),
            folder: name.into(),
            dependencies: dependencies.collect(),
        }
    }

    #[test]
    fn a_domain_names_what_lies_below_it() {
        assert_eq!(
            findings(&package("repo", &["forgeway-db", "forgeway-worker", "gix"])),
            Vec::<String>::new()
        );
    }

    #[test]
    fn a_domain_names_no_other_domain_even_for_tests() {
        assert_eq!(findings(&package("repo", &["forgeway-org"])), ["repo names org"]);
    }

    #[test]
    fn nobody_names_the_gateway() {
        assert_eq!(findings(&package("xtask", &["forgeway-gateway"])), ["xtask names gateway"]);
    }

    #[test]
    fn a_domain_speaks_no_http() {
        assert_eq!(findings(&package("org", &["actix-web"])).len(), 1);
        assert!(findings(&package("gateway", &["actix-web", "forgeway-org"])).is_empty());
    }

    #[test]
    fn the_product_names_every_domain_and_speaks_no_http() {
        assert!(findings(&package("forge", &["forgeway-org", "forgeway-markup"])).is_empty());
        assert_eq!(findings(&package("forge", &["forgeway-gateway", "actix-web"])).len(), 2);
        assert_eq!(findings(&package("org", &["forgeway-forge"])), ["org names forge"]);
    }

    #[test]
    fn records_know_the_product_and_resolvers_know_records() {
        assert!(findings(&package("entities", &["forgeway-forge", "forgeway-org"])).is_empty());
        assert!(findings(&package("resolvers", &["forgeway-entities"])).is_empty());
        assert_eq!(findings(&package("entities", &["forgeway-resolvers"])).len(), 1);
        assert_eq!(findings(&package("forge", &["forgeway-entities"])).len(), 1);
        assert_eq!(findings(&package("resolvers", &["actix-web"])).len(), 1);
    }

    #[test]
    fn the_runner_program_is_a_client_and_names_nothing() {
        assert!(findings(&package("job-runner", &["ureq", "zip"])).is_empty());
        assert_eq!(findings(&package("job-runner", &["forgeway-runners"])).len(), 1);
        assert_eq!(findings(&package("forge", &["forgeway-job-runner"])).len(), 1);
    }

    #[test]
    fn an_unknown_crate_is_refused() {
        assert_eq!(findings(&package("utils", &[])).len(), 1);
    }
}
