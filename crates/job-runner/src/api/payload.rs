//! A job as the server hands it over. Whatever may be null is empty here, and unknown fields are ignored.

use serde::{Deserialize, Deserializer};

fn or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(
    from: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

/// The fields needed to report a job whose payload cannot be parsed.
#[derive(Deserialize)]
pub(crate) struct Stub {
    pub(crate) id: u64,
    pub(crate) token: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Payload {
    pub(crate) id: u64,
    pub(crate) token: String,
    pub(crate) allow_git_fetch: bool,
    #[serde(deserialize_with = "or_default")]
    pub(crate) job_info: JobInfo,
    #[serde(deserialize_with = "or_default")]
    pub(crate) git_info: GitInfo,
    #[serde(deserialize_with = "or_default")]
    pub(crate) runner_info: RunnerInfo,
    #[serde(deserialize_with = "or_default")]
    pub(crate) variables: Vec<Variable>,
    #[serde(deserialize_with = "or_default")]
    pub(crate) steps: Vec<Step>,
    pub(crate) image: Option<Image>,
    #[serde(deserialize_with = "or_default")]
    pub(crate) services: Vec<Image>,
    #[serde(deserialize_with = "or_default")]
    pub(crate) artifacts: Vec<Artifact>,
    #[serde(deserialize_with = "or_default")]
    pub(crate) cache: Vec<Cache>,
    #[serde(deserialize_with = "or_default")]
    pub(crate) credentials: Vec<Credential>,
    #[serde(deserialize_with = "or_default")]
    pub(crate) dependencies: Vec<Dependency>,
    #[serde(deserialize_with = "or_default")]
    pub(crate) features: Features,
    #[serde(deserialize_with = "or_default")]
    pub(crate) hooks: Vec<Hook>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct JobInfo {
    #[serde(deserialize_with = "or_default")]
    pub(crate) name: String,
    #[serde(deserialize_with = "or_default")]
    pub(crate) project_id: u64,
    #[serde(deserialize_with = "or_default")]
    pub(crate) project_full_path: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct GitInfo {
    pub(crate) repo_url: String,
    #[serde(rename = "ref", deserialize_with = "or_default")]
    pub(crate) reference: String,
    pub(crate) sha: String,
    #[serde(deserialize_with = "or_default")]
    pub(crate) refspecs: Vec<String>,
    #[serde(deserialize_with = "or_default")]
    pub(crate) depth: u32,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct RunnerInfo {
    /// Seconds.
    #[serde(deserialize_with = "or_default")]
    pub(crate) timeout: u64,
}

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Variable {
    pub(crate) key: String,
    #[serde(deserialize_with = "or_default")]
    pub(crate) value: String,
    #[serde(deserialize_with = "or_default")]
    pub(crate) masked: bool,
    #[serde(deserialize_with = "or_default")]
    pub(crate) file: bool,
    #[serde(deserialize_with = "or_default")]
    pub(crate) raw: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Step {
    #[serde(deserialize_with = "or_default")]
    pub(crate) name: String,
    #[serde(deserialize_with = "or_default")]
    pub(crate) script: Vec<String>,
    #[serde(deserialize_with = "or_default")]
    pub(crate) when: String,
    #[serde(deserialize_with = "or_default")]
    pub(crate) allow_failure: bool,
}

/// An image of the job or of a service.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Image {
    #[serde(deserialize_with = "or_default")]
    pub(crate) name: String,
    pub(crate) entrypoint: Option<Vec<String>>,
    #[serde(deserialize_with = "or_default")]
    pub(crate) pull_policy: Vec<String>,
    #[serde(deserialize_with = "or_default")]
    pub(crate) executor_opts: ExecutorOptions,
    /// Of a service: names under which it is reached, joined by commas or blanks.
    #[serde(deserialize_with = "or_default")]
    pub(crate) alias: String,
    pub(crate) command: Option<Vec<String>>,
    #[serde(deserialize_with = "or_default")]
    pub(crate) variables: Vec<Variable>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ExecutorOptions {
    #[serde(deserialize_with = "or_default")]
    pub(crate) docker: ContainerOptions,
}

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ContainerOptions {
    pub(crate) platform: Option<String>,
    /// A name or a number.
    pub(crate) user: Option<serde_json::Value>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Artifact {
    #[serde(deserialize_with = "or_default")]
    pub(crate) name: String,
    #[serde(deserialize_with = "or_default")]
    pub(crate) untracked: bool,
    #[serde(deserialize_with = "or_default")]
    pub(crate) paths: Vec<String>,
    #[serde(deserialize_with = "or_default")]
    pub(crate) exclude: Vec<String>,
    #[serde(deserialize_with = "or_default")]
    pub(crate) when: String,
    #[serde(deserialize_with = "or_default")]
    pub(crate) expire_in: String,
    #[serde(deserialize_with = "or_default")]
    pub(crate) artifact_type: String,
    #[serde(deserialize_with = "or_default")]
    pub(crate) artifact_format: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Cache {
    #[serde(deserialize_with = "or_default")]
    pub(crate) key: String,
    #[serde(deserialize_with = "or_default")]
    pub(crate) fallback_keys: Vec<String>,
    #[serde(deserialize_with = "or_default")]
    pub(crate) untracked: bool,
    #[serde(deserialize_with = "or_default")]
    pub(crate) paths: Vec<String>,
    #[serde(deserialize_with = "or_default")]
    pub(crate) policy: String,
    #[serde(deserialize_with = "or_default")]
    pub(crate) when: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Credential {
    #[serde(rename = "type", deserialize_with = "or_default")]
    pub(crate) kind: String,
    pub(crate) url: String,
    pub(crate) username: String,
    pub(crate) password: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Dependency {
    pub(crate) id: u64,
    #[serde(deserialize_with = "or_default")]
    pub(crate) name: String,
    pub(crate) token: String,
    /// Absent where the job has left nothing.
    pub(crate) artifacts_file: Option<ArtifactsFile>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct ArtifactsFile {
    #[serde(deserialize_with = "or_default")]
    pub(crate) filename: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Features {
    #[serde(deserialize_with = "or_default")]
    pub(crate) failure_reasons: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Hook {
    #[serde(deserialize_with = "or_default")]
    pub(crate) name: String,
    #[serde(deserialize_with = "or_default")]
    pub(crate) script: Vec<String>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn null_is_empty_and_unknown_fields_are_ignored() {
        let job: Payload = serde_json::from_value(json!({
            "id": 1, "token": "t", "image": null, "services": null, "artifacts": null,
            "cache": null, "variables": [{"key": "A", "value": "b", "public": true, "masked": false}],
            "git_info": {"ref": "main", "depth": 20, "repo_url": "u", "sha": "s"}, "run": "x",
        }))
        .unwrap();
        assert_eq!((job.id, job.variables.len(), job.git_info.depth), (1, 1, 20));
        assert!(job.image.is_none() && job.services.is_empty());
    }

    #[test]
    fn a_user_of_a_container_may_be_a_number() {
        let image: Image = serde_json::from_value(json!({
            "name": "i", "entrypoint": [""], "executor_opts": {"docker": {"user": 1000}},
        }))
        .unwrap();
        assert_eq!(image.executor_opts.docker.user, Some(json!(1000)));
    }
}
