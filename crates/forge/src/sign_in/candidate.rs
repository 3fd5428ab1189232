//! Somebody who signs in by a password.

use kernel::Result;
use org::{token::oauth, user::User};

use super::login_throttle::Account;
use crate::{Forge, slots::SlotOwner};

/// Somebody who says who they are, and has yet to prove it.
pub struct Candidate {
    account: Account,
    user: Option<User>,
}

impl Candidate {
    /// Whoever has this user name or address, if anybody.
    pub async fn named(forge: &Forge, login: &str) -> Result<Self> {
        let wanted = login.to_owned();
        let user = forge.db.peek(move |tx| oauth::find_account(tx, &wanted)).await?;
        Ok(Self { account: Account::of(login, user.as_ref()), user })
    }

    pub fn known(user: &User) -> Self {
        Self { account: Account::User(user.id), user: Some(user.clone()) }
    }

    /// The account, where there is one.
    pub fn account(&self) -> Option<&User> {
        self.user.as_ref()
    }

    fn stored(&self) -> Option<&str> {
        self.user.as_ref().and_then(|user| user.password_hash.as_deref())
    }

    /// Whether the password was right a moment ago, so that checking it costs nothing.
    pub fn is_remembered(&self, forge: &Forge, clear: &str) -> bool {
        forge.passwords.is_known(&forge.passwords.print(clear, self.stored()))
    }

    /// The person, where the password is theirs.
    ///
    /// # Errors
    /// `TooMany` for who guesses too often, and while too many others wait for theirs.
    pub async fn prove(self, forge: &Forge, clear: String, who: SlotOwner) -> Result<Option<User>> {
        let print = forge.passwords.print(&clear, self.stored());
        let known = forge.passwords.is_known(&print);
        // Who gets no seat has not guessed.
        let seat = if known { None } else { Some(forge.passwords.seat(who)?) };
        let guess = forge.sign_ins.guess(&self.account, print, forge.db.clock().now())?;
        let right = match seat {
            None => true,
            Some(seat) => {
                let stored = self.stored().map(str::to_owned);
                forge.passwords.verify(seat, clear, stored).await?
            }
        };
        if !right {
            return Ok(None);
        }
        forge.sign_ins.forget(guess);
        Ok(self.user)
    }
}
