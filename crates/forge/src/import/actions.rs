//! Asking for imports, and canceling them.

use admin::{
    import::{
        Credentials, ImportKind, ImportStatus, ImportStep, ImportStore as _, NewImport,
        OptionalStages, Origin,
    },
    integration::UrlRule as _,
};
use db::Tx;
use kernel::{
    Error, FieldErrors, Grant, Result, TextEnum as _, Visibility,
    access::SignedIn,
    error::{Kind, Message},
    ids::{NamespaceId, ProjectId},
};
use org::{
    access::{IdOrPath, locate_project},
    policy::OwnProject,
    project::{
        Project, ProjectChange,
        creation::{self, Creation},
        import::{move_status, namespace_for, own_namespace},
        possible_description,
        store::ProjectStore as _,
    },
    settings::store::SettingsStore as _,
};

use super::{
    SourceClient, SourceError,
    client::basic,
    host::{HostRepository, encoded},
    job::withdraw_step,
    json::{fitting, text},
    schedule::{blocked_text, is_enabled, schedule, web_address, without_person},
};
use crate::{
    Forge,
    project::{
        create::{InitialContent, begin},
        repository::enqueue_repository,
    },
};

/// The API of the hosted service, and of an enterprise installation below its address.
const PUBLIC_API: &str = "https://api.github.com";
const ENTERPRISE_API: &str = "api/v3";

/// Reasons for which an import does not start. Their response differs by source.
#[derive(Debug)]
pub enum Refusal {
    /// This address is not gone to.
    Url(String),
    /// Administrators have switched the source off.
    Disabled,
    /// The source refused the credentials.
    Denied,
    /// The source has no such repository.
    Missing,
    /// The source is asked too often; seconds until it may be asked again.
    RateLimited(i64),
    /// What the source or the connection says.
    Source(String),
    /// The namespace is not there; a sentence.
    Namespace(String),
    /// The namespace is not the caller's to fill; a sentence.
    Permission(String),
    /// The project cannot be made; a sentence.
    Invalid(String),
    Other(Error),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

impl From<SourceError> for Refusal {
    fn from(error: SourceError) -> Self {
        match error {
            SourceError::RateLimited { seconds } => Self::RateLimited(seconds),
            SourceError::Denied(_) => Self::Denied,
            SourceError::Missing => Self::Missing,
            SourceError::Refused(why) => Self::Url(why.to_owned()),
            SourceError::Unavailable(text)
            | SourceError::Malformed(text)
            | SourceError::Unusable(text) => Self::Source(text),
            SourceError::Own(cause) => Self::Other(cause),
        }
    }
}

/// An import from the hosted service as it is asked for.
#[derive(Clone, Debug)]
pub struct HostImport {
    pub token: String,
    pub repository: i64,
    pub namespace: String,
    pub new_name: Option<String>,
    /// Address of an enterprise installation; the public service where none is given.
    pub hostname: Option<String>,
    pub optional: OptionalStages,
}

/// An import from a server that people run themselves, as it is asked for.
#[derive(Clone, Debug)]
pub struct ServerImport {
    pub url: String,
    pub username: String,
    pub password: String,
    pub project: String,
    pub repository: String,
    pub new_name: Option<String>,
    /// The caller's own where none is named.
    pub namespace: Option<String>,
}

/// Begins an import from the hosted service.
///
/// # Errors
/// In the order of the contract: the address, the namespace, the right to fill it, the source.
pub async fn import_from_host(
    forge: &Forge,
    grant: &Grant<SignedIn>,
    asked: HostImport,
) -> Result<Project, Refusal> {
    ensure_enabled(forge, ImportKind::RemoteHost).await?;
    let base = api_base(asked.hostname.as_deref())?;
    ensure_open(forge, &base)?;
    let namespace = namespace(forge, grant, Some(asked.namespace)).await?;
    let client = SourceClient::new(forge, Some(format!("token {}", asked.token)));
    let found = client.get(format!("{base}/repositories/{}", asked.repository)).await?;
    let repository = HostRepository::parse(&found.body)?;
    ensure_open(forge, &repository.clone_url)?;
    let (owner, name) = repository.full_name.split_once('/').unwrap_or_default();
    let origin = Origin {
        api: format!("{base}/repos/{}/{}", encoded(owner), encoded(name)),
        base,
        git: repository.clone_url.clone(),
        web: repository.web_url.clone(),
        has_wiki: repository.has_wiki,
        optional: asked.optional,
    };
    let new = NewImport {
        kind: ImportKind::RemoteHost,
        user: grant.user()?,
        source: repository.full_name.clone(),
        origin,
        credentials: Some(Credentials { username: String::new(), password: asked.token }),
    };
    let wanted = ProjectRequest {
        namespace,
        name: asked.new_name.unwrap_or(repository.name),
        description: repository.description,
        visibility: match repository.is_private {
            true => Visibility::Private,
            false => Visibility::Public,
        },
        branch: repository.default_branch,
    };
    make(forge, grant, wanted, new).await
}

/// Begins an import from a server that people run themselves.
///
/// # Errors
/// As [`import_from_host`].
pub async fn import_from_server(
    forge: &Forge,
    grant: &Grant<SignedIn>,
    asked: ServerImport,
) -> Result<Project, Refusal> {
    ensure_enabled(forge, ImportKind::RemoteServer).await?;
    let url = address(&asked.url)?;
    ensure_open(forge, &url)?;
    let namespace = namespace(forge, grant, asked.namespace).await?;
    let base = format!("{url}/rest/api/1.0");
    let (key, slug) = (encoded(&asked.project), encoded(&asked.repository));
    let api = format!("{base}/projects/{key}/repos/{slug}");
    let client = SourceClient::new(forge, Some(basic(&asked.username, &asked.password)));
    let found = client.get(api.clone()).await?.body;
    let clone = found["links"]["clone"].as_array().into_iter().flatten();
    let mut http = clone.filter(|one| text(one, "name").starts_with("http"));
    let git = match http.next().map(|one| text(one, "href")) {
        Some(href) if !href.is_empty() => without_person(href),
        _ => format!("{url}/scm/{}/{slug}.git", key.to_lowercase()),
    };
    ensure_open(forge, &git)?;
    let slug_of = |value: &str, other: &str| match value.is_empty() {
        true => other.to_owned(),
        false => value.to_owned(),
    };
    let origin = Origin {
        api,
        base,
        git,
        web: format!("{url}/projects/{key}/repos/{slug}"),
        has_wiki: false,
        optional: OptionalStages::default(),
    };
    let new = NewImport {
        kind: ImportKind::RemoteServer,
        user: grant.user()?,
        source: format!("{}/{}", asked.project, slug_of(text(&found, "slug"), &asked.repository)),
        origin,
        credentials: Some(Credentials { username: asked.username, password: asked.password }),
    };
    let name = slug_of(text(&found, "name"), &asked.repository);
    let wanted = ProjectRequest {
        namespace,
        name: asked.new_name.unwrap_or(name),
        description: fitting(text(&found, "description")),
        visibility: match found["public"].as_bool() {
            Some(true) => Visibility::Public,
            _ => Visibility::Private,
        },
        branch: None,
    };
    make(forge, grant, wanted, new).await
}

/// Cancels an import from the hosted service; what was written stays.
///
/// # Errors `NotFound` for projects that are not there or came from elsewhere, `Forbidden` for all but owners,
/// `BadRequest` where the import has ended.
pub async fn cancel(forge: &Forge, grant: &Grant<SignedIn>, id: ProjectId) -> Result<Project> {
    let actor = grant.actor();
    let canceled = move |tx: &mut Tx<'_>| {
        let found = locate_project(tx, actor, &IdOrPath::Id(id.0));
        let (facts, who) = found.map_err(|cause| match cause.is_gone() {
            true => Error::missing().whole("Not Found"),
            false => cause,
        })?;
        let import = tx.find_import(id)?;
        if import.is_none_or(|import| import.kind != ImportKind::RemoteHost) {
            return Err(Error::missing());
        }
        Grant::<OwnProject>::check(&who, facts)
            .map_err(|_refusal| Error::forbidden().whole("Unauthorized access"))?;
        let project = tx.project(id)?;
        let status = ImportStatus::find(&project.import_status).unwrap_or(ImportStatus::None);
        let Some(to) = status.after(ImportStep::Cancel) else {
            let text = format!("The import cannot be canceled because it is {status}");
            return Err(Error::bad_request().whole(text));
        };
        if !move_status(tx, id, status.as_str(), to.as_str())? {
            return Err(Error::gave_way());
        }
        withdraw_step(tx, id)?;
        tx.end_import(id, None)?;
        tx.project(id)
    };
    forge.db.write(canceled).await
}

/// A project that is to be made.
struct ProjectRequest {
    namespace: NamespaceId,
    name: String,
    description: Option<String>,
    visibility: Visibility,
    branch: Option<String>,
}

async fn make(
    forge: &Forge,
    grant: &Grant<SignedIn>,
    wanted: ProjectRequest,
    new: NewImport,
) -> Result<Project, Refusal> {
    let branch = match wanted.branch {
        Some(branch) => branch,
        None => forge.db.peek(|tx| tx.settings()).await?.default_branch(),
    };
    let creation = Creation {
        namespace: Some(wanted.namespace),
        name: Some(wanted.name),
        path: None,
        change: ProjectChange {
            description: Some(wanted.description.as_deref().map(possible_description)),
            visibility: Some(wanted.visibility),
            ..ProjectChange::default()
        },
    };
    let (grant, vault, head) = (grant.clone(), forge.vault.clone(), branch.clone());
    let made = forge.db.write(move |tx: &mut Tx<'_>| {
        let made = creation::create(tx, &grant, &creation)?;
        enqueue_repository(tx, made.id, &head)?;
        schedule(tx, made.id, &new, &vault)?;
        Ok(made)
    });
    let made = made.await.map_err(sentence)?;
    let beginning = InitialContent { branch: Some(branch), readme: None };
    Ok(begin(forge, made, beginning).await?)
}

/// What is wrong with a new project, as one sentence.
fn sentence(error: Error) -> Refusal {
    if error.is_ours() || !matches!(error.kind, Kind::BadRequest | Kind::Forbidden) {
        return Refusal::Other(error);
    }
    match &error.message {
        Message::Fields(fields) => Refusal::Invalid(sentences(fields)),
        Message::Limit(text) | Message::Whole(text) => Refusal::Invalid(text.clone()),
        _ => Refusal::Other(error),
    }
}

fn sentences(fields: &FieldErrors) -> String {
    let sentence = |field: &str, text: &String| {
        let words = field.replace(['_', '.'], " ");
        let mut letters = words.chars();
        let first = letters.next().map(|letter| letter.to_uppercase().to_string());
        format!("{}{} {text}", first.unwrap_or_default(), letters.as_str())
    };
    let all: Vec<String> = fields
        .iter()
        .flat_map(|(field, texts)| texts.iter().map(move |text| sentence(field, text)))
        .collect();
    all.join(", ")
}

/// Where the API of the hosted service begins, or that of an enterprise installation.
pub(super) fn api_base(hostname: Option<&str>) -> Result<String, Refusal> {
    match hostname.map(str::trim).filter(|host| !host.is_empty()) {
        None => Ok(PUBLIC_API.to_owned()),
        Some(host) => Ok(format!("{}/{ENTERPRISE_API}", address(host)?)),
    }
}

/// # Errors
/// [`Refusal::Disabled`] where administrators have switched the source off.
pub(super) async fn ensure_enabled(forge: &Forge, kind: ImportKind) -> Result<(), Refusal> {
    match is_enabled(forge, kind).await? {
        true => Ok(()),
        false => Err(Refusal::Disabled),
    }
}

/// An address that can be gone to as far as its form says.
fn address(url: &str) -> Result<String, Refusal> {
    let odd = || Refusal::Url("Only allowed schemes are http, https".to_owned());
    web_address(url).ok_or_else(odd)
}

pub(super) fn ensure_open(forge: &Forge, url: &str) -> Result<(), Refusal> {
    match forge.courier.rules.web().allows(url) {
        true => Ok(()),
        false => Err(Refusal::Url(blocked_text(url).to_owned())),
    }
}

async fn namespace(
    forge: &Forge,
    grant: &Grant<SignedIn>,
    named: Option<String>,
) -> Result<NamespaceId, Refusal> {
    let (actor, user) = (grant.actor(), grant.user()?);
    let found = forge.db.read(move |tx| match named {
        Some(path) => namespace_for(tx, actor, &path),
        None => own_namespace(tx, user),
    });
    found.await.map_err(|cause| match (&cause.kind, &cause.message) {
        (Kind::Unprocessable, Message::Whole(text)) => Refusal::Namespace(text.clone()),
        (Kind::Forbidden, Message::Whole(text)) => Refusal::Permission(text.clone()),
        _ => Refusal::Other(cause),
    })
}

#[cfg(test)]
mod tests {
    use super::sentences;

    #[test]
    fn flaws_are_told_in_sentences() {
        let taken = || vec!["has already been taken".to_owned()];
        let fields =
            vec![("project_namespace.name".to_owned(), taken()), ("path".to_owned(), taken())];
        let told = "Project namespace name has already been taken, Path has already been taken";
        assert_eq!(sentences(&fields), told);
    }
}
