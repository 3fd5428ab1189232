//! Locks of Git LFS: somebody keeps a file to themselves while working on it, and `git lfs` keeps others from pushing
//! changes of it.

use actix_web::{
    HttpRequest, HttpResponse,
    dev::Payload,
    http::{Method, StatusCode},
};
use kernel::{Ability, AccessLevel, Error, Standing, error::Kind, ids::UserId};
use org::user::store::UserStore;
use repo::{
    git::service::Service,
    lfs::{LfsLock, LfsLocks, LockFilter, is_lock_path},
    policy::PushCode,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    GitRequest, Refusal, Step,
    lfs::{CONTENT_TYPE, Holder, LfsRefusal, enter, read},
};
use crate::{app::App, extract::raw_pairs};

/// What of a path, still percent-encoded, is about locks.
pub(super) fn find(path: &str) -> Option<(&str, Step)> {
    let (place, rest) = path.split_once("/info/lfs/locks")?;
    let step = match rest {
        "" => Step::Locks,
        "/verify" => Step::VerifyLocks,
        _ => Step::Unlock(rest.strip_prefix('/')?.strip_suffix("/unlock")?.parse().ok()?),
    };
    Some((place, step))
}

/// The most that one answer lists.
const MOST: i64 = 100;

pub(super) async fn answer(
    app: &App,
    req: &HttpRequest,
    payload: Payload,
    wanted: GitRequest,
) -> HttpResponse {
    let answered = match (&wanted.step, req.method()) {
        (Step::Locks, &Method::POST) => create(app, req, payload, &wanted).await,
        (Step::Locks, &Method::GET) => list(app, req, &wanted).await,
        (Step::VerifyLocks, &Method::POST) => verify(app, req, payload, &wanted).await,
        (Step::Unlock(id), &Method::POST) => unlock(app, req, payload, &wanted, *id).await,
        (Step::Locks, _) => Err(Refusal::Method("GET, POST").into()),
        _ => Err(Refusal::Method("POST").into()),
    };
    answered.unwrap_or_else(|no| no.response())
}

#[derive(Deserialize)]
struct NewLock {
    path: String,
}

/// `POST …/info/lfs/locks`
async fn create(
    app: &App,
    req: &HttpRequest,
    payload: Payload,
    wanted: &GitRequest,
) -> Result<HttpResponse, LfsRefusal> {
    let asked: NewLock = read(req, payload).await?;
    let Holder { project, who, .. } = enter(app, req, wanted, Service::ReceivePack).await?;
    ensure_keeper(&who)?;
    let path = asked.path.trim_start_matches('/').to_owned();
    if !is_lock_path(&path) {
        let text = "The path is missing, or too long.";
        return Err(LfsRefusal::Told(StatusCode::UNPROCESSABLE_ENTITY, text));
    }
    let user = who.actor.user()?;
    let (lock, new) = app
        .db
        .write(move |tx| {
            if let Some(lock) = tx.insert_lfs_lock(project, &path, user)? {
                return Ok((lock, true));
            }
            let filter = LockFilter { path: Some(path), most: 1, ..LockFilter::default() };
            let found = tx.lfs_locks(project, &filter)?.pop();
            Ok((found.ok_or_else(Error::missing)?, false))
        })
        .await?;
    let lock = told(app, vec![lock]).await?.pop();
    Ok(match new {
        true => sent(StatusCode::CREATED, &json!({ "lock": lock })),
        false => sent(StatusCode::CONFLICT, &json!({ "lock": lock, "message": "already locked" })),
    })
}

/// A lock holds on every branch: it is not for those to whom one is lent.
fn ensure_keeper(who: &Standing) -> Result<(), Refusal> {
    if PushCode::allows(who) { Ok(()) } else { Err(Refusal::MayNotPush) }
}

/// `GET …/info/lfs/locks`
async fn list(
    app: &App,
    req: &HttpRequest,
    wanted: &GitRequest,
) -> Result<HttpResponse, LfsRefusal> {
    let project = enter(app, req, wanted, Service::UploadPack).await?.project;
    let given = raw_pairs(req.query_string().as_bytes());
    let text = |name: &str| given.text(name).filter(|text| !text.is_empty()).map(str::to_owned);
    let filter = LockFilter {
        // What is no number is nobody's.
        id: text("id").map(|id| id.parse().unwrap_or(0)),
        path: text("path"),
        ..page(text("cursor").as_deref(), text("limit").and_then(|limit| limit.parse().ok()))
    };
    let (locks, next) = found(app, project, filter).await?;
    let locks: Vec<Value> = told(app, locks).await?;
    Ok(sent(StatusCode::OK, &with_cursor(json!({ "locks": locks }), next)))
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Verify {
    cursor: Option<String>,
    limit: Option<i64>,
}

/// `POST …/info/lfs/locks/verify`: one's own, and those that keep one from pushing.
async fn verify(
    app: &App,
    req: &HttpRequest,
    payload: Payload,
    wanted: &GitRequest,
) -> Result<HttpResponse, LfsRefusal> {
    let asked: Verify = read(req, payload).await?;
    let Holder { project, who, .. } = enter(app, req, wanted, Service::ReceivePack).await?;
    let user = who.actor.user()?;
    let filter = page(asked.cursor.as_deref(), asked.limit);
    let (locks, next) = found(app, project, filter).await?;
    let (ours, theirs): (Vec<LfsLock>, Vec<LfsLock>) =
        locks.into_iter().partition(|lock| lock.user_id == user);
    let (ours, theirs) = (told(app, ours).await?, told(app, theirs).await?);
    Ok(sent(StatusCode::OK, &with_cursor(json!({ "ours": ours, "theirs": theirs }), next)))
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Unlock {
    force: bool,
}

/// `POST …/info/lfs/locks/<id>/unlock`
async fn unlock(
    app: &App,
    req: &HttpRequest,
    payload: Payload,
    wanted: &GitRequest,
    id: i64,
) -> Result<HttpResponse, LfsRefusal> {
    let asked: Unlock = read(req, payload).await?;
    let Holder { project, who, .. } = enter(app, req, wanted, Service::ReceivePack).await?;
    ensure_keeper(&who)?;
    let user = who.actor.user()?;
    let may_force = asked.force && who.is(AccessLevel::Maintainer);
    let done = app.db.write(move |tx| {
        let filter = LockFilter { id: Some(id), most: 1, ..LockFilter::default() };
        let lock = tx.lfs_locks(project, &filter)?.pop().ok_or_else(|| Error::not_found("Lock"))?;
        if lock.user_id != user && !may_force {
            return Err(Error::forbidden());
        }
        tx.delete_lfs_lock(project, id)?;
        Ok(lock)
    });
    let lock = match done.await {
        Err(gone) if gone.is_gone() => {
            return Err(LfsRefusal::Told(StatusCode::NOT_FOUND, "There is no such lock."));
        }
        Err(refused) if refused.kind == Kind::Forbidden && asked.force => {
            let text = "You must have maintainer access to force delete a lock";
            return Err(LfsRefusal::Told(StatusCode::FORBIDDEN, text));
        }
        Err(refused) if refused.kind == Kind::Forbidden => {
            return Err(LfsRefusal::Told(
                StatusCode::FORBIDDEN,
                "The file is locked by somebody else.",
            ));
        }
        done => done?,
    };
    let lock = told(app, vec![lock]).await?.pop();
    Ok(sent(StatusCode::OK, &json!({ "lock": lock })))
}

fn page(cursor: Option<&str>, limit: Option<i64>) -> LockFilter {
    let most = limit.filter(|limit| *limit > 0).unwrap_or(MOST).min(MOST);
    let after = cursor.and_then(|cursor| cursor.parse().ok()).unwrap_or(0);
    LockFilter { after, most, ..LockFilter::default() }
}

/// A page of locks, and where the next one begins.
async fn found(
    app: &App,
    project: kernel::ids::ProjectId,
    filter: LockFilter,
) -> kernel::Result<(Vec<LfsLock>, Option<i64>)> {
    let most = usize::try_from(filter.most).unwrap_or_default();
    let probe = LockFilter { most: filter.most + 1, ..filter };
    let mut locks = app.db.read(move |tx| tx.lfs_locks(project, &probe)).await?;
    let more = locks.len() > most;
    locks.truncate(most);
    let next = locks.last().filter(|_| more).map(|lock| lock.id);
    Ok((locks, next))
}

/// Locks with the names of their owners, as `git lfs` reads them.
async fn told(app: &App, locks: Vec<LfsLock>) -> kernel::Result<Vec<Value>> {
    let owners: Vec<UserId> = locks.iter().map(|lock| lock.user_id).collect();
    let people = app.db.read(move |tx| tx.users_by_id(&owners)).await?;
    let entity = |lock: LfsLock| {
        let name = people.get(&lock.user_id).map(|user| user.name.clone()).unwrap_or_default();
        json!({
            "id": lock.id.to_string(),
            "path": lock.path,
            "locked_at": lock.locked_at,
            "owner": { "name": name },
        })
    };
    Ok(locks.into_iter().map(entity).collect())
}

fn with_cursor(mut answer: Value, next: Option<i64>) -> Value {
    if let Some(next) = next {
        answer["next_cursor"] = json!(next.to_string());
    }
    answer
}

fn sent(status: StatusCode, body: &Value) -> HttpResponse {
    HttpResponse::build(status).content_type(CONTENT_TYPE).body(body.to_string())
}
