//! Accounts, together with the pictures of those whose they are.

use db::Tx;
use kernel::{Grant, Result, access::Administrate, ids::UserId};
use org::user::{
    Details, User,
    actions::{self, Changes, NewUser},
    registration::{self, AccountStart},
};

use crate::{
    Forge,
    files::{
        Upload,
        avatars::{Owner, PictureChange, StagedAvatar, stage_change, tidy},
    },
};

/// Makes an account.
///
/// # Errors
/// As [`registration::register`]; `BadRequest` for what is no picture.
pub async fn create(
    forge: &Forge,
    grant: &Grant<Administrate>,
    new: NewUser,
    beginning: AccountStart,
    picture: PictureChange<Upload>,
    change: impl FnOnce(&mut Details) + Clone + Send + 'static,
) -> Result<User> {
    let (grant, picture) = (grant.clone(), stage_change(forge, picture).await?);
    let made = forge.db.write(move |tx| {
        let user = registration::register(tx, &grant, &new, &beginning, change)?;
        repaint(tx, user, picture)
    });
    made.await
}

/// Changes an account.
///
/// # Errors
/// As [`actions::update`]; `BadRequest` for what is no picture.
pub async fn update(
    forge: &Forge,
    grant: &Grant<Administrate>,
    id: UserId,
    changes: Changes,
    picture: PictureChange<Upload>,
    change: impl FnOnce(&mut Details) + Clone + Send + 'static,
) -> Result<User> {
    let is_repainted = picture.is_some();
    let (grant, picture) = (grant.clone(), stage_change(forge, picture).await?);
    let changed = forge.db.write(move |tx| {
        let user = actions::update(tx, &grant, id, &changes, change)?;
        repaint(tx, user, picture)
    });
    let user = changed.await?;
    if is_repainted {
        tidy(forge, Owner::User(user.id), user.avatar.clone()).await?;
    }
    Ok(user)
}

/// Shows somebody by the picture that came with the account, or by none.
fn repaint(tx: &mut Tx<'_>, user: User, picture: PictureChange<StagedAvatar>) -> Result<User> {
    match picture {
        None => Ok(user),
        Some(None) => actions::set_avatar(tx, user.id, None),
        Some(Some(picture)) => {
            let user = actions::set_avatar(tx, user.id, Some(&picture.name))?;
            picture.commit(tx, Owner::User(user.id))?;
            Ok(user)
        }
    }
}
