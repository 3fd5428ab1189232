//! Applications that act for people.

use db::Tx;
use forgeway_org::{
    application::{
        Application, ApplicationStore as _,
        actions::{NewApplication, create, remove},
        authorization::{AuthorizationRefusal, AuthorizationRequest, CODE_LIFETIME, agree, read},
        exchange::{CodeProof, change_code, refresh_tokens, revoke},
    },
    token::{
        Secret,
        oauth::{Pair, Renewal, first_use},
        store::TokenStore as _,
    },
    user::User,
};
use kernel::{Result, error::Kind};

use crate::world::{World, administers, test};

const BACK: &str = "https://board.example.com/back";

fn new_application() -> NewApplication {
    NewApplication {
        name: "Board".to_owned(),
        redirect_uri: format!("{BACK}\nboard:/back"),
        scopes: "api read_user sudo".to_owned(),
        trusted: false,
        confidential: true,
    }
}

fn made(tx: &mut Tx<'_>, world: &World) -> Result<Application> {
    Ok(create(tx, &administers(&world.admin), &new_application())?.0)
}

fn request(application: &Application, scope: &str) -> AuthorizationRequest {
    AuthorizationRequest {
        response_type: Some("code".to_owned()),
        client_id: Some(application.uid.clone()),
        redirect_uri: Some(BACK.to_owned()),
        scope: Some(scope.to_owned()),
        ..AuthorizationRequest::default()
    }
}

fn proof(code: Secret) -> CodeProof {
    CodeProof { code, redirect_uri: BACK.to_owned(), verifier: None }
}

fn code(tx: &mut Tx<'_>, application: &Application, user: &User, scope: &str) -> Result<Secret> {
    let consent = read(tx, &request(application, scope))?.unwrap();
    Ok(agree(tx, &consent, user)?.unwrap())
}

fn pair(tx: &mut Tx<'_>, application: &Application, user: &User) -> Result<Pair> {
    let code = code(tx, application, user, "api")?;
    Ok(change_code(tx, application, &proof(code))?.unwrap())
}

fn renewed(tx: &mut Tx<'_>, application: &Application, pair: &Pair) -> Result<Option<Pair>> {
    Ok(match refresh_tokens(tx, Some(application), &pair.refresh, None)? {
        Renewal::Pair(pair) => Some(*pair),
        _ => None,
    })
}

fn works(tx: &mut Tx<'_>, pair: &Pair) -> Result<bool> {
    let now = tx.now;
    Ok(tx.find_token(&pair.access)?.is_some_and(|(token, _)| token.is_active(now)))
}

#[test]
fn only_a_digest_of_a_secret_is_kept() {
    test(|tx, world| {
        let (made, secret) = create(tx, &administers(&world.admin), &new_application())?;
        assert!(made.is_proven_by(Some(&secret)) && !made.is_proven_by(None));
        assert!(!made.is_proven_by(Some(&Secret::given(&made.secret_digest))));
        let odd = NewApplication { redirect_uri: "javascript:x".to_owned(), ..new_application() };
        let refused = create(tx, &administers(&world.admin), &odd).unwrap_err();
        assert_eq!(refused.kind, Kind::BadRequest);
        Ok(())
    });
}

#[test]
fn a_code_is_good_once_for_its_application_and_address() {
    test(|tx, world| {
        let (own, other) = (made(tx, world)?, made(tx, world)?);
        let code = code(tx, &own, &world.bob, "api")?;
        let elsewhere = CodeProof { redirect_uri: "board:/back".to_owned(), ..proof(code.clone()) };
        assert!(change_code(tx, &other, &proof(code.clone()))?.is_none());
        assert!(change_code(tx, &own, &elsewhere)?.is_none());

        let pair = change_code(tx, &own, &proof(code.clone()))?.unwrap();

        assert!(works(tx, &pair)?);
        assert!(change_code(tx, &own, &proof(code))?.is_none());
        assert!(!works(tx, &pair)?, "somebody else may have it");
        Ok(())
    });
}

#[test]
fn a_code_ends_after_ten_minutes() {
    test(|tx, world| {
        let own = made(tx, world)?;
        let code = code(tx, &own, &world.bob, "api")?;
        tx.now = tx.now.plus(CODE_LIFETIME);
        assert!(change_code(tx, &own, &proof(code))?.is_none());
        Ok(())
    });
}

#[test]
fn a_request_is_for_a_known_application_address_and_scopes() {
    test(|tx, world| {
        let own = made(tx, world)?;
        let mut refused = |change: &dyn Fn(&mut AuthorizationRequest)| {
            let mut request = request(&own, "api");
            change(&mut request);
            read(tx, &request).unwrap().err()
        };
        use AuthorizationRefusal as Refusal;
        assert_eq!(refused(&|it| it.client_id = None), Some(Refusal::Client));
        assert_eq!(refused(&|it| it.redirect_uri = None), Some(Refusal::Redirect));
        let below = |it: &mut AuthorizationRequest| it.redirect_uri = Some(format!("{BACK}/x"));
        assert_eq!(refused(&below), Some(Refusal::Redirect));
        let token = |it: &mut AuthorizationRequest| it.response_type = Some("token".to_owned());
        assert_eq!(refused(&token), Some(Refusal::ResponseType));
        let wide = |it: &mut AuthorizationRequest| it.scope = Some("read_api".to_owned());
        assert_eq!(refused(&wide), Some(Refusal::Scope));
        let odd = |it: &mut AuthorizationRequest| it.code_challenge = Some("short".to_owned());
        assert_eq!(refused(&odd), Some(Refusal::Request));
        assert_eq!(refused(&|_| {}), None);
        Ok(())
    });
}

#[test]
fn scopes_of_administrators_are_left_out_for_others() {
    test(|tx, world| {
        let own = made(tx, world)?;
        let code = code(tx, &own, &world.bob, "sudo read_user")?;
        let pair = change_code(tx, &own, &proof(code))?.unwrap();
        assert_eq!(pair.token.scopes().to_string(), "read_user");
        let consent = read(tx, &request(&own, "sudo"))?.unwrap();
        assert_eq!(agree(tx, &consent, &world.bob)?.err(), Some(AuthorizationRefusal::Scope));
        Ok(())
    });
}

#[test]
fn a_pair_renewed_twice_leaves_one_and_renewed_late_leaves_none() {
    test(|tx, world| {
        let own = made(tx, world)?;
        let old = pair(tx, &own, &world.bob)?;
        let lost = renewed(tx, &own, &old)?.unwrap();
        let next = renewed(tx, &own, &old)?.unwrap();
        assert!(works(tx, &old)? && !works(tx, &lost)? && works(tx, &next)?);

        first_use(tx, &next.token)?;
        assert!(!works(tx, &old)?);

        assert!(matches!(refresh_tokens(tx, Some(&own), &old.refresh, None)?, Renewal::Replay(_)));
        assert!(!works(tx, &next)? && renewed(tx, &own, &next)?.is_none());
        Ok(())
    });
}

#[test]
fn a_pair_is_renewed_and_ended_by_its_application_alone() {
    test(|tx, world| {
        let (own, other) = (made(tx, world)?, made(tx, world)?);
        let pair = pair(tx, &own, &world.bob)?;
        for stranger in [Some(&other), None] {
            assert!(matches!(refresh_tokens(tx, stranger, &pair.refresh, None)?, Renewal::Invalid));
            revoke(tx, stranger, &pair.access)?;
            assert!(works(tx, &pair)?);
        }

        revoke(tx, Some(&own), &pair.refresh)?;

        assert!(!works(tx, &pair)?);
        Ok(())
    });
}

#[test]
fn an_application_takes_its_codes_and_tokens_along() {
    test(|tx, world| {
        let own = made(tx, world)?;
        let pair = pair(tx, &own, &world.bob)?;
        let code = code(tx, &own, &world.bob, "api")?;

        remove(tx, &administers(&world.admin), own.id, None)?;

        assert!(tx.find_token(&pair.access)?.is_none() && tx.find_code(&code)?.is_none());
        assert!(tx.find_client(&own.uid)?.is_none());
        let gone = remove(tx, &administers(&world.admin), own.id, None).unwrap_err();
        assert_eq!(gone.kind, Kind::NotFound);
        Ok(())
    });
}
