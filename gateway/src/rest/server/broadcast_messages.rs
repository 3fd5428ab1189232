//! Messages from administrators to everybody.

use admin::broadcast::{
    BroadcastMessage, BroadcastType,
    actions::{self, BroadcastChange},
};
use entities::server::broadcast_message::BroadcastMessageEntity;
use kernel::{
    AccessLevel, Ts,
    access::{Administrate, Anyone},
};

use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, Change, Csv, Param, ParamErrors, Raw, params::OnlyPage},
    param_enums, params,
    present::{Created, Json, PagedList},
    routes,
};

routes! { "Broadcast messages" at "/broadcast_messages";
    GET    ""              => list   : Anyone,
    GET    "/{message_id}" => show   : Anyone,
    POST   ""              => create : Administrate,
    PUT    "/{message_id}" => update : Administrate,
    DELETE "/{message_id}" => remove : Administrate,
}

param_enums! { BroadcastType }

/// A role that a message can be for.
#[derive(Clone, Copy, Debug)]
struct Audience(i64);

impl Param for Audience {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        let known = |level: i64| BroadcastMessage::LEVELS.into_iter().any(|it| number(it) == level);
        match i64::read(raw)? {
            Some(level) if known(level) => Ok(Some(Self(level))),
            Some(_) => Err(ParamErrors::one(crate::extract::params::NOT_LISTED)),
            None => Ok(None),
        }
    }

    fn schema() -> serde_json::Value {
        serde_json::json!({ "type": "integer", "enum": BroadcastMessage::LEVELS })
    }
}

fn number(level: AccessLevel) -> i64 {
    level.number().into()
}

async fn list(
    app: App,
    call: Call<Anyone, OnlyPage>,
) -> ApiResult<PagedList<BroadcastMessageEntity>> {
    let (grant, page) = (call.grant, call.page);
    let found = app.db.read(move |tx| Ok((actions::list(tx, &grant, page)?, tx.now))).await?;
    let (messages, now) = found;
    Ok(PagedList(messages.map(|message| BroadcastMessageEntity::new(message, now))))
}

params! {
    pub struct OneBroadcastMessage {
        message_id: i64,
    }
}

async fn show(
    app: App,
    call: Call<Anyone, OneBroadcastMessage>,
) -> ApiResult<Json<BroadcastMessageEntity>> {
    let (grant, id) = (call.grant, call.params.message_id);
    let found = app.db.peek(move |tx| Ok((actions::read(tx, &grant, id)?, tx.now))).await?;
    Ok(Json(BroadcastMessageEntity::new(found.0, found.1)))
}

params! {
    struct CreateBroadcastMessage {
        /// Text of the message.
        message: String,
        /// Default: now.
        starts_at: Option<Ts>,
        /// Default: one hour after the start.
        ends_at: Option<Ts>,
        /// Background color. Default: `#E75E40`.
        color: Option<String>,
        /// Text color. Default: `#FFFFFF`.
        font: Option<String>,
        /// Roles that the message is for.
        target_access_levels: Option<Csv<Audience>>,
        /// Path that the message is for, with `*` for anything.
        target_path: Change<String>,
        /// Default: `banner`.
        broadcast_type: Option<BroadcastType>,
        /// Whether users can hide the message.
        dismissable: Option<bool>,
    }
}

params! {
    struct UpdateBroadcastMessage {
        message_id: i64,
        /// Text of the message.
        message: Change<String>,
        starts_at: Option<Ts>,
        ends_at: Option<Ts>,
        /// Background color.
        color: Option<String>,
        /// Text color.
        font: Option<String>,
        /// Roles that the message is for.
        target_access_levels: Option<Csv<Audience>>,
        /// Path that the message is for, with `*` for anything.
        target_path: Change<String>,
        broadcast_type: Option<BroadcastType>,
        /// Whether users can hide the message.
        dismissable: Option<bool>,
    }
}

fn levels(given: Option<Csv<Audience>>) -> Option<Vec<i64>> {
    given.map(|levels| levels.0.into_iter().map(|level| level.0).collect())
}

async fn create(
    app: App,
    call: Call<Administrate, CreateBroadcastMessage>,
) -> ApiResult<Created<BroadcastMessageEntity>> {
    let (grant, given) = (call.grant, call.params);
    let change = BroadcastChange {
        message: Some(given.message),
        starts_at: given.starts_at,
        ends_at: given.ends_at,
        color: given.color,
        font: given.font,
        target_access_levels: levels(given.target_access_levels),
        target_path: given.target_path.into_update(),
        broadcast_type: given.broadcast_type,
        dismissable: given.dismissable,
    };
    let made =
        app.db.write(move |tx| Ok((actions::create(tx, &grant, change.clone())?, tx.now))).await?;
    Ok(Created(BroadcastMessageEntity::new(made.0, made.1)))
}

async fn update(
    app: App,
    call: Call<Administrate, UpdateBroadcastMessage>,
) -> ApiResult<Json<BroadcastMessageEntity>> {
    let (grant, given) = (call.grant, call.params);
    let id = given.message_id;
    let change = BroadcastChange {
        // As of a new message, nothing is a text that cannot be.
        message: given.message.into_update().map(Option::unwrap_or_default),
        starts_at: given.starts_at,
        ends_at: given.ends_at,
        color: given.color,
        font: given.font,
        target_access_levels: levels(given.target_access_levels),
        target_path: given.target_path.into_update(),
        broadcast_type: given.broadcast_type,
        dismissable: given.dismissable,
    };
    let kept = app
        .db
        .write(move |tx| Ok((actions::update(tx, &grant, id, change.clone())?, tx.now)))
        .await?;
    Ok(Json(BroadcastMessageEntity::new(kept.0, kept.1)))
}

async fn remove(
    app: App,
    call: Call<Administrate, OneBroadcastMessage>,
) -> ApiResult<Json<BroadcastMessageEntity>> {
    let (grant, id) = (call.grant, call.params.message_id);
    let gone = app.db.write(move |tx| Ok((actions::remove(tx, &grant, id)?, tx.now))).await?;
    Ok(Json(BroadcastMessageEntity::new(gone.0, gone.1)))
}
