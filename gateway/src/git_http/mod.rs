//! Git's own protocol over HTTP: clones, fetches and pushes at `/<namespace>/<project>.git`.

mod authenticate;
mod authorize;
mod body;
mod create;
mod git_error;
mod hook_server;
mod kind;
mod lfs;
mod lfs_locks;
mod listen;
mod moved_repository;
mod node_fetch;
mod pack_stream;
mod push_decision;
mod pushes;
pub(crate) mod registry_token;
mod transport;
mod wiki;
mod wiki_hook_server;

use actix_web::{
    HttpRequest, HttpResponse,
    dev::Payload,
    http::{Method, header},
};
use forge::{geo::WriteRefusal, project::create::USUAL_BRANCH};
use kernel::Actor;
use percent_encoding::percent_decode_str;
use repo::{
    git::{
        RefName, RepoPath,
        hook::RefCommand,
        service::{self, Protocol, Service},
    },
    lfs::LfsId,
    push::incoming::pushable,
};

pub use git_error::Refusal;
pub use listen::{listen, listen_with};
pub use transport::Transport;

use self::{authenticate::Visitor, authorize::RepositoryAccess, body::Chunks};
use crate::{app::App, rest::geo::shown_credential};

/// The service and repository of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitRequest {
    /// `group/subgroup/project`, with `.wiki` behind it for a wiki; nothing where the path does not end in `.git`.
    address: Option<String>,
    /// What lacks nothing but the `.git`.
    without_suffix: Option<String>,
    step: Step,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// What is there; the query names the service.
    Refs,
    /// The objects themselves.
    Pack(Service),
    /// What is to be done with some large files.
    LargeFiles,
    /// Who keeps which file to themselves.
    Locks,
    VerifyLocks,
    Unlock(i64),
    /// One large file, with its size where it comes.
    LargeFile {
        id: LfsId,
        size: Option<i64>,
    },
}

impl GitRequest {
    /// Whether a path, still percent-encoded, belongs to git.
    pub fn find(path: &str) -> Option<Self> {
        let ends = [
            ("/info/refs", Step::Refs),
            ("/git-upload-pack", Step::Pack(Service::UploadPack)),
            ("/git-receive-pack", Step::Pack(Service::ReceivePack)),
        ];
        let found = ends.into_iter().find_map(|(end, step)| Some((path.strip_suffix(end)?, step)));
        let (place, step) = found.or_else(|| lfs::find(path)).or_else(|| lfs_locks::find(path))?;
        if place.starts_with("/api/") {
            return None;
        }
        let decoded = percent_decode_str(place).decode_utf8().ok()?;
        let whole = decoded.trim_start_matches('/');
        let address = whole.strip_suffix(".git");
        let without_suffix = moved_repository::is_address(whole).then(|| whole.to_owned());
        let without_suffix = without_suffix.filter(|_| address.is_none());
        let named = |path: &&str| path.contains('/') || path.ends_with(wiki::SUFFIX);
        Some(Self { address: address.filter(named).map(str::to_owned), without_suffix, step })
    }
}

/// Who asks, as git clients and `go` show it, to read what repositories there are.
pub(crate) async fn reader(app: &App, req: &HttpRequest) -> Result<Actor, Refusal> {
    let visitor = authenticate::enter(app, req).await?;
    authorize::ensure_scope(&visitor, Service::UploadPack)?;
    Ok(visitor.actor())
}

/// Answers a request of a git client.
pub async fn answer(
    app: App,
    req: &HttpRequest,
    payload: Payload,
    wanted: GitRequest,
) -> HttpResponse {
    let answered = match wanted.step {
        Step::Refs => refs(&app, req, &wanted).await,
        Step::Pack(service) => pack(&app, req, payload, &wanted, service).await,
        Step::LargeFiles | Step::LargeFile { .. } => {
            return lfs::answer(&app, req, payload, wanted).await;
        }
        Step::Locks | Step::VerifyLocks | Step::Unlock(_) => {
            return lfs_locks::answer(&app, req, payload, wanted).await;
        }
    };
    answered.unwrap_or_else(|refusal| refusal.response())
}

/// The service that a query names.
fn service_of(query: &str) -> Option<Service> {
    query.split('&').find_map(|pair| pair.strip_prefix("service=")).and_then(Service::find)
}

impl GitRequest {
    /// Whether it brings something, or announces that. Of questions about large files only their bodies tell.
    pub fn writes(&self, method: &Method, query: &str) -> bool {
        match &self.step {
            Step::Refs => service_of(query) == Some(Service::ReceivePack),
            Step::Pack(service) => *service == Service::ReceivePack,
            Step::LargeFile { .. } | Step::Locks | Step::Unlock(_) => !method.is_safe(),
            Step::LargeFiles | Step::VerifyLocks => false,
        }
    }

    /// The answer to such a request while nothing may be written, in the form that its client reads.
    pub fn refuse_write(&self, reason: &WriteRefusal) -> HttpResponse {
        let refusal = no_push(reason);
        match self.step {
            Step::Refs | Step::Pack(_) => refusal.response(),
            _ => lfs::LfsRefusal::from(refusal).response(),
        }
    }
}

fn no_push(reason: &WriteRefusal) -> Refusal {
    let text = match reason {
        WriteRefusal::Maintenance(_) => {
            "Git push is not allowed because this GitLab instance is currently in (read-only) maintenance mode."
        }
        WriteRefusal::Secondary => "You can't push code to a read-only GitLab instance.",
    };
    Refusal::Account(text.to_owned())
}

/// Refuses a push of which only the body of the request tells.
fn ensure_writable(app: &App, service: Service) -> Result<(), Refusal> {
    match app.write_refusal().filter(|_| service == Service::ReceivePack) {
        Some(reason) => Err(no_push(&reason)),
        None => Ok(()),
    }
}

/// `GET …/info/refs?service=…`
async fn refs(app: &App, req: &HttpRequest, wanted: &GitRequest) -> Result<HttpResponse, Refusal> {
    if !matches!(*req.method(), Method::GET | Method::HEAD) {
        return Err(Refusal::Method("GET"));
    }
    let service = service_of(req.query_string()).ok_or(Refusal::Dumb)?;
    if let Some(shown) = shown_credential(req).filter(|_| service == Service::UploadPack) {
        return node_fetch::refs(app, req, shown, wanted).await;
    }
    // Before anything is looked up: it tells nobody what is there.
    if let Some(address) = &wanted.without_suffix {
        return Ok(moved_repository::redirect(app, req, address));
    }
    let caller = authenticate::enter(app, req).await?;
    let entrance = authorize::find_access(app, &caller, wanted.address.as_deref(), service).await?;
    let path = match entrance {
        RepositoryAccess::Open(place) => {
            let address = wanted.address.as_deref();
            if let Some(address) = address.and_then(|old| moved_repository::present(&place, old)) {
                return Ok(moved_repository::redirect(app, req, &address));
            }
            place.path
        }
        RepositoryAccess::ToBeMade { .. } => nothing(app).await?,
    };
    let refs = service::advertise(&app.git, &path, service, protocol(req).as_ref()).await?;
    let content_type = format!("application/x-{}-advertisement", service.name());
    Ok(fresh(&content_type).body(refs))
}

/// `POST …/git-upload-pack` and `POST …/git-receive-pack`
async fn pack(
    app: &App,
    req: &HttpRequest,
    payload: Payload,
    wanted: &GitRequest,
    service: Service,
) -> Result<HttpResponse, Refusal> {
    if req.method() != Method::POST {
        return Err(Refusal::Method("POST"));
    }
    let sent = req.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    if sent != Some(&*format!("application/x-{}-request", service.name())) {
        return Err(Refusal::ContentType);
    }
    if let Some(shown) = shown_credential(req).filter(|_| service == Service::UploadPack) {
        return node_fetch::pack(app, req, payload, shown, wanted).await;
    }
    let caller = authenticate::enter(app, req).await?;
    let address = wanted.address.as_deref();
    let body = body::read(req, payload, pack_stream::longest_request(app, service))?;
    let answer = match service {
        Service::UploadPack => {
            let mut place = authorize::enter(app, &caller, address, service).await?;
            if authorize::is_one_too_many(app, &caller, &place).await? {
                authenticate::ensure_still_in_use(app, &caller).await?;
                place = authorize::enter(app, &caller, address, service).await?;
            }
            pack_stream::upload(app, &place, protocol(req), body).await?
        }
        Service::ReceivePack => receive(app, &caller, address, protocol(req), body).await?,
    };
    Ok(fresh(&format!("application/x-{}-result", service.name())).streaming(answer))
}

async fn receive(
    app: &App,
    caller: &Visitor,
    address: Option<&str>,
    protocol: Option<Protocol>,
    body: Chunks,
) -> Result<Chunks, Refusal> {
    let entrance = authorize::find_access(app, caller, address, Service::ReceivePack).await?;
    let (head, body) = pack_stream::split_head(body).await?;
    let place = match entrance {
        RepositoryAccess::Open(place) => place,
        RepositoryAccess::ToBeMade { path } => {
            let brings = |command: &RefCommand| pushable(command).is_ok() && command.new.is_some();
            if !head.commands.iter().any(brings) {
                return pack_stream::turn_down(app, &nothing(app).await?, protocol, body).await;
            }
            authorize::make(app, caller, &path).await?
        }
    };
    pack_stream::receive(app, &place, protocol, (head, body)).await
}

/// A repository without anything: what a project shows that is not there yet.
async fn nothing(app: &App) -> Result<RepoPath, Refusal> {
    let (storage, head) = (app.storage.clone(), RefName::branch(USUAL_BRANCH)?);
    let made = kernel::task::spawn_blocking(move || storage.nothing(&head)).await;
    Ok(made.map_err(kernel::Error::internal)??)
}

fn protocol(req: &HttpRequest) -> Option<Protocol> {
    Protocol::parse(req.headers().get("Git-Protocol")?.to_str().ok()?)
}

/// An answer that nobody may keep.
fn fresh(content_type: &str) -> actix_web::HttpResponseBuilder {
    let mut response = HttpResponse::Ok();
    response.content_type(content_type);
    response.insert_header((header::CACHE_CONTROL, "no-cache, max-age=0, must-revalidate"));
    response.insert_header((header::PRAGMA, "no-cache"));
    response.insert_header((header::EXPIRES, "Fri, 01 Jan 1980 00:00:00 GMT"));
    response
}

#[cfg(test)]
mod tests {
    use repo::git::service::Service;

    use super::{GitRequest, Step};

    fn find(path: &str) -> Option<(Option<String>, Step)> {
        GitRequest::find(path).map(|wanted| (wanted.address, wanted.step))
    }

    #[test]
    fn addresses_of_repositories_are_told_from_all_others() {
        let project = |path: &str| Some(path.to_owned());
        assert_eq!(find("/a/b.git/info/refs"), Some((project("a/b"), Step::Refs)));
        assert_eq!(
            find("/a/b/c%2Dd.git/git-upload-pack"),
            Some((project("a/b/c-d"), Step::Pack(Service::UploadPack)))
        );
        assert_eq!(
            find("/a/b.git/git-receive-pack"),
            Some((project("a/b"), Step::Pack(Service::ReceivePack)))
        );
        assert_eq!(find("/a.wiki.git/info/refs"), Some((project("a.wiki"), Step::Refs)));
        assert_eq!(find("/a/b/info/refs"), Some((None, Step::Refs)));
        assert_eq!(find("/b.git/info/refs"), Some((None, Step::Refs)));
        let completed =
            |path: &str| GitRequest::find(path).and_then(|wanted| wanted.without_suffix);
        assert_eq!(completed("/a/b/info/refs"), project("a/b"));
        assert_eq!(completed("//a/b.wiki/info/refs"), project("a/b.wiki"));
        for odd in ["/a/b.git/info/refs", "/a/info/refs", "/a/%5Cb/info/refs", "/a//b/info/refs"] {
            assert_eq!(completed(odd), None, "{odd}");
        }
        for other in ["/", "/a/b.git", "/a/b.git/HEAD", "/api/v4/projects/1/info/refs"] {
            assert_eq!(find(other), None, "{other}");
        }
    }
}
