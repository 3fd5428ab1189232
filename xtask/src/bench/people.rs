//! Data that the runs create through the API before it is copied.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use crate::client::Client;

pub(super) fn post(client: &Client, path: &str, body: &Value) -> Result<Value> {
    client.post(path, body)?.json()
}

pub(super) fn id(made: &Value) -> Result<i64> {
    made["id"].as_i64().with_context(|| format!("an answer without an id: {made}"))
}

/// Somebody's id and token.
pub(super) fn person(client: &Client, username: &str) -> Result<(i64, String)> {
    let wanted = json!({
        "username": username, "name": username, "email": format!("{username}@example.org"),
        "force_random_password": true, "skip_confirmation": true,
    });
    let user = id(&post(client, "/users", &wanted)?)?;
    let wanted = json!({ "name": "bench", "scopes": ["api"] });
    let token = post(client, &format!("/users/{user}/personal_access_tokens"), &wanted)?;
    let token = token["token"].as_str().context("an answer without a token")?;
    Ok((user, token.to_owned()))
}
