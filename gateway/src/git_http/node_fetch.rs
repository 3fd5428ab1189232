//! Fetches of other nodes, which copy whole repositories: with the refs that nobody else is shown, whoever may read them.

use actix_web::{HttpRequest, HttpResponse, dev::Payload};
use db::Tx;
use forge::geo::authenticate;
use kernel::{
    Actor, Error, Result,
    error::{Kind as ErrorKind, Message},
};
use org::access::{IdOrPath, locate_group, locate_project};
use repo::git::{
    RepoPath, Wiki,
    service::{self, Service},
};

use super::{GitRequest, Refusal, body, fresh, kind::Kind, pack_stream, protocol, wiki::SUFFIX};
use crate::{app::App, rate_limit::Area};

/// The answer to `GET …/info/refs` of a node.
pub(super) async fn refs(
    app: &App,
    req: &HttpRequest,
    shown: &str,
    wanted: &GitRequest,
) -> Result<HttpResponse, Refusal> {
    let (_, path) = enter(app, req, shown, wanted).await?;
    let refs = service::advertise_all(&app.git, &path, protocol(req).as_ref()).await?;
    let content_type = format!("application/x-{}-advertisement", Service::UploadPack.name());
    Ok(fresh(&content_type).body(refs))
}

/// The answer to `POST …/git-upload-pack` of a node.
pub(super) async fn pack(
    app: &App,
    req: &HttpRequest,
    payload: Payload,
    shown: &str,
    wanted: &GitRequest,
) -> Result<HttpResponse, Refusal> {
    let (kind, path) = enter(app, req, shown, wanted).await?;
    let longest = pack_stream::longest_request(app, Service::UploadPack);
    let body = body::read(req, payload, longest)?;
    let answer = pack_stream::upload_all(app, (kind, &path), protocol(req), body).await?;
    let content_type = format!("application/x-{}-result", Service::UploadPack.name());
    Ok(fresh(&content_type).streaming(answer))
}

/// The repository at the address for which the node signed.
async fn enter(
    app: &App,
    req: &HttpRequest,
    shown: &str,
    wanted: &GitRequest,
) -> Result<(Kind, RepoPath), Refusal> {
    let address = app.proxies.client(req);
    let request = match authenticate(app, shown, address).await {
        Ok(request) => request,
        Err(refused) => {
            let counted = app.rates.check_address(address, Area::Web);
            counted.map_err(|refusal| Refusal::TooFast(refusal, app.db.clock().now()))?;
            return Err(turned_away(refused));
        }
    };
    let signed_for = wanted.address.clone().ok_or(Refusal::NoSuffix)?;
    request.ensure_scope(&signed_for).map_err(turned_away)?;
    let Some(kind) = app.db.peek(move |tx| find(tx, &signed_for)).await? else {
        return Err(Refusal::NoProject);
    };
    let path = kind.lies_in(&app.storage);
    match path.as_path().join("HEAD").is_file() {
        true => Ok((kind, path)),
        false => Err(Refusal::NoRepository),
    }
}

fn turned_away(refused: Error) -> Refusal {
    if refused.kind != ErrorKind::Unauthenticated {
        return Refusal::Failed(refused);
    }
    match refused.into_message() {
        Message::Whole(text) => Refusal::Clocks(text),
        _ => Refusal::WrongCredential,
    }
}

fn find(tx: &mut Tx<'_>, address: &str) -> Result<Option<Kind>> {
    // A copy is of everything, whatever is switched off for people.
    let everybody = Actor { admin: true, ..Actor::ANONYMOUS };
    let place = |path: &str| IdOrPath::Path(path.to_owned());
    let found = match locate_project(tx, everybody, &place(address)) {
        Ok((project, _)) => Ok(Kind::Code(project.0.id)),
        Err(gone) if gone.is_gone() => match address.strip_suffix(SUFFIX) {
            Some(home) => wiki(tx, everybody, &place(home)),
            None => Err(gone),
        },
        failed => failed.map(|(project, _)| Kind::Code(project.0.id)),
    };
    match found {
        Ok(kind) => Ok(Some(kind)),
        Err(gone) if gone.is_gone() => Ok(None),
        Err(failure) => Err(failure),
    }
}

fn wiki(tx: &mut Tx<'_>, everybody: Actor, home: &IdOrPath) -> Result<Kind> {
    match locate_project(tx, everybody, home) {
        Err(gone) if gone.is_gone() => {
            Ok(Kind::Wiki(Wiki::Group(locate_group(tx, everybody, home)?.0.0.id)))
        }
        found => Ok(Kind::Wiki(Wiki::Project(found?.0.0.id))),
    }
}
