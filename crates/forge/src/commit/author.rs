//! People, as commits name them.

use org::user::User;
use repo::git::Signature;

use crate::Forge;

/// Somebody, as commits name them, now.
pub fn signature(forge: &Forge, user: &User) -> Signature {
    Signature {
        name: user.name.clone(),
        email: user.git_email(&forge.urls.private_mail_host()),
        at: forge.db.clock().now().unix(),
        offset: 0,
    }
}
