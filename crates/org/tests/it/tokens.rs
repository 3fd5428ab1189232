//! Access tokens.

use db::Tx;
use forgeway_org::{
    token::{
        AccessToken, Kind as TokenKind, Scope, Scopes, Secret,
        actions::{
            NewToken, impersonation, issue_impersonation, issue_own, issue_personal, revoke, rotate,
        },
        store::TokenStore as _,
    },
    user::User,
};
use kernel::{Result, error::Kind};

use crate::world::{administers, signed_in, test};

fn new(user: &User, scopes: &[Scope]) -> NewToken {
    NewToken {
        user_id: user.id,
        kind: TokenKind::Personal,
        name: "laptop".to_owned(),
        scopes: Scopes(scopes.to_vec()),
        expires_at: None,
    }
}

fn own(tx: &mut Tx<'_>, user: &User) -> Result<(AccessToken, Secret)> {
    issue_own(tx, &signed_in(user), &new(user, &[Scope::Api]))
}

#[test]
fn a_token_has_a_name_and_scopes() {
    test(|tx, world| {
        let nameless = NewToken { name: " ".to_owned(), ..new(&world.bob, &[Scope::Api]) };
        for wrong in [nameless, new(&world.bob, &[]), new(&world.bob, &[Scope::OpenId])] {
            let refused = issue_own(tx, &signed_in(&world.bob), &wrong).unwrap_err();
            assert_eq!(refused.kind, Kind::Unprocessable, "{wrong:?}");
        }
        Ok(())
    });
}

#[test]
fn nobody_makes_a_token_for_somebody_else() {
    test(|tx, world| {
        let asked = new(&world.bob, &[Scope::Api]);
        let refused = issue_own(tx, &signed_in(&world.ada), &asked).unwrap_err();
        assert_eq!(refused.kind, Kind::Forbidden);
        issue_personal(tx, &administers(&world.admin), &asked).map(drop)
    });
}

#[test]
fn scopes_of_administrators_are_for_administrators() {
    test(|tx, world| {
        let grant = administers(&world.admin);
        let refused = issue_personal(tx, &grant, &new(&world.bob, &[Scope::Sudo])).unwrap_err();
        assert_eq!(refused.kind, Kind::Unprocessable);
        issue_personal(tx, &grant, &new(&world.admin, &[Scope::Sudo])).map(drop)
    });
}

#[test]
fn only_ones_own_token_is_revoked() {
    test(|tx, world| {
        let (token, _) = own(tx, &world.bob)?;
        let refused = revoke(tx, &signed_in(&world.ada), token.id).unwrap_err();
        assert_eq!(refused.kind, Kind::BadRequest);
        for _ in 0..2 {
            revoke(tx, &signed_in(&world.bob), token.id)?;
        }
        assert!(tx.find_token_by_id(token.id)?.unwrap().revoked);
        Ok(())
    });
}

#[test]
fn a_token_is_replaced_once() {
    test(|tx, world| {
        let (token, secret) = own(tx, &world.bob)?;
        let grant = signed_in(&world.bob);
        let (next, other) = rotate(tx, &grant, token.id, None)?.unwrap();
        assert!(secret.digest() != other.digest() && next.expires_at.is_some());
        let again = rotate(tx, &grant, token.id, None).unwrap_err();
        assert_eq!(again.to_string(), "Token already revoked");
        let others = rotate(tx, &signed_in(&world.ada), next.id, None).unwrap_err();
        assert_eq!(others.kind, Kind::Unauthenticated);
        Ok(())
    });
}

#[test]
fn a_personal_token_is_no_impersonation_token() {
    test(|tx, world| {
        let (personal, _) = own(tx, &world.bob)?;
        let lost = impersonation(tx, world.bob.id, personal.id).unwrap_err();
        assert!(lost.is_not_found("Impersonation Token"));
        let asked = NewToken { kind: TokenKind::Impersonation, ..new(&world.bob, &[Scope::Api]) };
        let (token, _) = issue_impersonation(tx, &administers(&world.admin), &asked)?;
        assert!(impersonation(tx, world.ada.id, token.id).is_err(), "it is for Bob");
        impersonation(tx, world.bob.id, token.id).map(drop)
    });
}
