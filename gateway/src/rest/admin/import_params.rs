//! Parameters of imports. Each may also be given under the source's own name for it.

use admin::import::OptionalStages;
use forge::import::{HostImport, ServerImport};

use crate::{
    extract::{
        NonEmpty, ParamErrors, Params, RawMap,
        params::{MISSING, ParamDoc},
    },
    params,
};

params! {
    /// Stages that are done on request, or in another way.
    pub struct StageParams {
        /// Whether to ask for the events of each issue on its own: slower, and complete for old issues.
        single_endpoint_issue_events_import: Option<bool>,
        /// Whether to ask for the notes of each issue on its own: slower, and complete beyond 30,000 notes.
        single_endpoint_notes_import: Option<bool>,
        /// Whether to import attachments linked in descriptions and comments.
        attachments_import: Option<bool>,
    }
}

params! {
    pub struct ImportFromHost {
        /// Token of the source with access to the repository. Stored encrypted until the import ends.
        personal_access_token: String,
        /// ID of the repository at the source.
        repo_id: i64,
        /// Path of the namespace that gets the project: `group/subgroup`.
        target_namespace: NonEmpty,
        /// Name of the project. Default: the name of the repository.
        new_name: Option<String>,
        /// URL of an enterprise installation. Default: the public service.
        remote_hostname: Option<String>,
        /// Same as `remote_hostname`.
        github_hostname: Option<String>,
        /// Further stages. Default: none.
        optional_stages: Option<StageParams>,
    }
}

params! {
    struct ImportFromServer {
        /// URL of the server.
        server_url: Option<String>,
        /// Same as `server_url`.
        bitbucket_server_url: Option<String>,
        /// Name of the user at the source.
        server_username: Option<String>,
        /// Same as `server_username`.
        bitbucket_server_username: Option<String>,
        /// Token or password at the source. Stored encrypted until the import ends.
        personal_access_token: String,
        /// Key of the project at the source.
        server_project: Option<String>,
        /// Same as `server_project`.
        bitbucket_server_project: Option<String>,
        /// Name of the repository at the source.
        server_repo: Option<String>,
        /// Same as `server_repo`.
        bitbucket_server_repo: Option<String>,
        /// Name of the project. Default: the name of the repository.
        new_name: Option<String>,
        /// Path of the namespace that gets the project. Default: the caller's own.
        target_namespace: Option<String>,
        /// Same as `target_namespace`.
        new_namespace: Option<String>,
    }
}

fn filled(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.trim().is_empty())
}

impl From<ImportFromHost> for HostImport {
    fn from(params: ImportFromHost) -> Self {
        let stages = params.optional_stages;
        let wants = |flag: fn(&StageParams) -> Option<bool>| {
            stages.as_ref().and_then(flag).unwrap_or_default()
        };
        let optional = OptionalStages {
            single_endpoint_issue_events: wants(|all| all.single_endpoint_issue_events_import),
            single_endpoint_notes: wants(|all| all.single_endpoint_notes_import),
            attachments: wants(|all| all.attachments_import),
        };
        Self {
            token: params.personal_access_token,
            repository: params.repo_id,
            namespace: params.target_namespace.0,
            new_name: filled(params.new_name),
            hostname: filled(params.remote_hostname).or(filled(params.github_hostname)),
            optional,
        }
    }
}

/// What has to be given under one of two names.
const REQUIRED: [[&str; 2]; 4] = [
    ["server_url", "bitbucket_server_url"],
    ["server_username", "bitbucket_server_username"],
    ["server_project", "bitbucket_server_project"],
    ["server_repo", "bitbucket_server_repo"],
];

/// An import from a server with all that it needs.
#[derive(Clone, Debug)]
pub struct CompleteServerImport(pub ServerImport);

impl Params for CompleteServerImport {
    const PAGED: bool = false;

    fn read(raw: &RawMap) -> Result<Self, ParamErrors> {
        let given = ImportFromServer::read(raw);
        let mut flaws = given.as_ref().err().cloned().unwrap_or_default();
        for [name, other] in REQUIRED {
            if !raw.has(name) && !raw.has(other) {
                flaws.add(name, MISSING);
            }
        }
        match given {
            Ok(given) if flaws.is_empty() => Ok(Self(given.into())),
            _ => {
                let names: Vec<&str> = Self::describe().iter().map(|doc| doc.name).collect();
                Err(flaws.in_order_of(&names))
            }
        }
    }

    fn describe() -> Vec<ParamDoc> {
        ImportFromServer::describe()
    }

    fn defaults() -> Vec<(&'static str, String)> {
        ImportFromServer::defaults()
    }
}

impl From<ImportFromServer> for ServerImport {
    fn from(params: ImportFromServer) -> Self {
        let either = |one: Option<String>, other: Option<String>| filled(one).or(filled(other));
        let required = |one, other| either(one, other).unwrap_or_default();
        Self {
            url: required(params.server_url, params.bitbucket_server_url),
            username: required(params.server_username, params.bitbucket_server_username),
            password: params.personal_access_token,
            project: required(params.server_project, params.bitbucket_server_project),
            repository: required(params.server_repo, params.bitbucket_server_repo),
            new_name: filled(params.new_name),
            namespace: either(params.target_namespace, params.new_namespace),
        }
    }
}
