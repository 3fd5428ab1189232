//! Images: their names, when they are fetched, and who may fetch them.

use std::io::Write as _;

use anyhow::Result;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use crate::{
    api::payload::Image,
    config::{ContainerConfig, PullPolicy},
    job::{Failure, Job},
};

/// An image that can be no option: names begin with a letter or a digit.
pub(super) fn ensure_name(name: &str) -> Result<(), Failure> {
    let is_sound = name.starts_with(|sign: char| sign.is_ascii_alphanumeric())
        && name.len() <= 1000
        && name.chars().all(|sign| sign.is_ascii_alphanumeric() || "._-/:@+".contains(sign));
    match is_sound {
        true => Ok(()),
        false => Err(Failure::Configuration(format!("{name:?} is not the name of an image"))),
    }
}

/// When the image of a job is fetched. A job may only ask for what the configuration allows.
pub(super) fn policy(image: &Image, config: &ContainerConfig) -> Result<PullPolicy, Failure> {
    let allowed = match config.allowed_pull_policies.is_empty() {
        true => std::slice::from_ref(&config.pull_policy),
        false => config.allowed_pull_policies.as_slice(),
    };
    let mut first = None;
    for word in &image.pull_policy {
        match PullPolicy::find(word).filter(|policy| allowed.contains(policy)) {
            Some(policy) => first = first.or(Some(policy)),
            None => {
                let said = format!("this runner does not allow the pull policy {word:?}");
                return Err(Failure::Configuration(said));
            }
        }
    }
    Ok(first.unwrap_or(config.pull_policy))
}

/// Names under which a service is reached: those that it is given and those that follow from its image.
pub(super) fn aliases(image: &str, given: &str) -> Vec<String> {
    let is_name = |alias: &String| {
        alias.starts_with(|sign: char| sign.is_ascii_alphanumeric())
            && alias.chars().all(|sign| sign.is_ascii_alphanumeric() || "._-".contains(sign))
    };
    let path = image.split('@').next().unwrap_or(image);
    // A port or a tag stands behind a colon, of each part of the path.
    let parts: Vec<&str> =
        path.split('/').map(|part| part.split(':').next().unwrap_or(part)).collect();
    let mut all: Vec<String> =
        given.split([',', ' ']).filter(|alias| !alias.is_empty()).map(str::to_owned).collect();
    all.extend([parts.join("__"), parts.join("-")]);
    let mut seen = std::collections::HashSet::new();
    all.retain(|alias| is_name(alias) && seen.insert(alias.clone()));
    all
}

/// A folder with a `config.json` that holds the passwords of registries; `None` where there are none.
pub(super) fn credentials(job: &Job) -> Result<Option<tempfile::TempDir>> {
    let mut auths = serde_json::Map::new();
    // Only passwords are taken from what a job brings: other settings there name programs to be run.
    let given = job.variables.text("DOCKER_AUTH_CONFIG");
    let given = given.and_then(|text| serde_json::from_str::<Value>(text).ok());
    if let Some(Value::Object(given)) =
        given.and_then(|mut value| value.get_mut("auths").map(Value::take))
    {
        auths.extend(given);
    }
    for one in job.payload.credentials.iter().filter(|one| one.kind == "registry") {
        let both = BASE64_STANDARD.encode(format!("{}:{}", one.username, one.password));
        auths.insert(one.url.clone(), json!({ "auth": both }));
    }
    if auths.is_empty() {
        return Ok(None);
    }
    let folder = tempfile::tempdir()?;
    let mut file = std::fs::File::create_new(folder.path().join("config.json"))?;
    file.write_all(json!({ "auths": auths }).to_string().as_bytes())?;
    Ok(Some(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(policies: &[&str]) -> Image {
        let pull_policy = policies.iter().map(|policy| (*policy).to_owned()).collect();
        Image { pull_policy, ..Image::default() }
    }

    #[test]
    fn an_image_is_no_option() {
        for name in ["--privileged", "", "a b", "$(id)", "a;b"] {
            assert!(ensure_name(name).is_err(), "{name}");
        }
        assert!(ensure_name("registry.example:5000/g/i:1.2@sha256:ab").is_ok());
    }

    #[test]
    fn a_job_asks_only_for_policies_that_are_allowed() {
        let config = ContainerConfig::default();
        assert_eq!(policy(&image(&[]), &config).unwrap(), PullPolicy::IfNotPresent);
        assert!(policy(&image(&["always"]), &config).is_err());
        let open = ContainerConfig {
            allowed_pull_policies: vec![PullPolicy::Always, PullPolicy::Never],
            ..config
        };
        assert_eq!(policy(&image(&["always", "never"]), &open).unwrap(), PullPolicy::Always);
        assert!(policy(&image(&["always", "odd"]), &open).is_err());
    }

    #[test]
    fn a_service_is_reached_by_its_image_and_its_aliases() {
        let all = aliases("registry.example:5000/group/postgres:16", "db, pg --evil");
        let names =
            ["db", "pg", "registry.example__group__postgres", "registry.example-group-postgres"];
        assert_eq!(all, names);
        assert_eq!(aliases("redis", ""), ["redis"]);
    }
}
