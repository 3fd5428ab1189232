//! Any SSH key, for administrators.

use db::Tx;
use entities::org::{
    key::{OwnedSshKeyEntity, SshKeyEntity},
    user::AdminUser,
};
use kernel::{Error, access::Administrate, ids::SshKeyId};
use org::{
    key::ssh::{SshKey, store::SshKeyStore},
    user::{account::AccountStore, model::FullUser, store::UserStore},
};

use crate::{app::App, error::ApiResult, extract::Call, params, present::Json, routes};

routes! { "SSH keys" at "/keys";
    GET ""          => find : Administrate,
    GET "/{key_id}" => show : Administrate,
}

params! { struct OneKey { key_id: SshKeyId } }
params! {
    struct FindKey {
        /// Fingerprint: `SHA256:…`, or MD5 as hexadecimal pairs.
        fingerprint: String,
    }
}

type OwnedKey = Json<OwnedSshKeyEntity>;

fn owned(tx: &mut Tx<'_>, key: SshKey) -> kernel::Result<(SshKey, FullUser)> {
    let user = tx.user(key.user_id)?;
    let full = tx.full_users(vec![user], None)?.pop().ok_or_else(|| Error::not_found("User"))?;
    Ok((key, full))
}

fn present(app: &App, key: &SshKey, full: &FullUser) -> OwnedKey {
    Json(OwnedSshKeyEntity {
        key: SshKeyEntity::new(&app.urls, key, &full.user),
        user: AdminUser::new(&app.urls, full),
    })
}

async fn show(app: App, call: Call<Administrate, OneKey>) -> ApiResult<OwnedKey> {
    let id = call.params.key_id;
    let found = app.db.peek(move |tx| {
        let key = tx.any_ssh_key(id)?;
        owned(tx, key)
    });
    let (key, full) = found.await?;
    Ok(present(&app, &key, &full))
}

async fn find(app: App, call: Call<Administrate, FindKey>) -> ApiResult<OwnedKey> {
    let given = call.params.fingerprint;
    let found = app.db.peek(move |tx| {
        let key = match given.strip_prefix("SHA256:") {
            Some(sha256) => tx.find_ssh_key(sha256.trim_end_matches('='))?,
            None => {
                let md5 = given.strip_prefix("MD5:").unwrap_or(&given);
                tx.find_ssh_key_by_md5(&md5.to_lowercase())?
            }
        };
        owned(tx, key.ok_or_else(|| Error::not_found("Key"))?)
    });
    let (key, full) = found.await?;
    Ok(present(&app, &key, &full))
}
