//! Passwords at every door where one is shown: guesses are counted, and only a few are hashed at once.

use base64::{Engine, prelude::BASE64_STANDARD};
use forge::{sign_in::Seat, slots::SlotOwner};
use gateway::app::Limits;
use kernel::{Visibility, ids::UserId};
use org::user::{actions::NewUser, password};
use serde_json::{Value, json};

use crate::support::{Answer, Person, TestApp};

const RIGHT: &str = "difference engine";
const WAIT: &str = "This endpoint has been requested too many times. Try again later.";

/// Ada, who has a password and a public project.
fn set_up(app: &TestApp) -> UserId {
    let hash = password::hash(RIGHT).expect("a hash");
    let new = NewUser { password_hash: Some(hash), ..NewUser::named("ada") };
    let ada = app.someone(&new, &[]);
    app.project(&ada, "engine", Visibility::Public);
    app.user("ada").id
}

async fn sign_in(app: &TestApp, login: &str, clear: &str) -> Answer {
    let fields = json!({ "grant_type": "password", "username": login, "password": clear });
    app.anonymous().post("//oauth/token", fields).await
}

fn git<'a>(app: &'a TestApp, login: &str, clear: &str) -> Person<'a> {
    let pair = BASE64_STANDARD.encode(format!("{login}:{clear}"));
    app.anonymous().sending("Authorization", &format!("Basic {pair}"))
}

async fn ls_remote(person: &Person<'_>) -> u16 {
    person.get("//ada/engine.git/info/refs?service=git-upload-pack").await.status
}

/// All seats that one caller may have.
fn all_seats(app: &TestApp, who: SlotOwner) -> Vec<Seat> {
    std::iter::from_fn(|| app.state.passwords.seat(who).ok()).collect()
}

#[actix_web::test]
async fn guesses_at_git_lock_the_account_at_every_door() {
    let app = TestApp::new();
    set_up(&app);
    for number in 0..10 {
        let login = if number % 2 == 0 { "Ada" } else { "ada@example.com" };
        assert_eq!(ls_remote(&git(&app, login, &format!("wrong {number}"))).await, 401);
    }

    let refused = git(&app, "ada", RIGHT);
    let refused = refused.get("//ada/engine.git/info/refs?service=git-upload-pack").await;
    assert_eq!((refused.status, refused.header("retry-after")), (429, Some("600")));
    assert_eq!(sign_in(&app, "ada", RIGHT).await.status, 429);
    assert_eq!(sign_in(&app, "bob", RIGHT).await.status, 400, "others are not kept waiting");
    assert_eq!(ls_remote(&app.person("ada").by_password()).await, 200, "a token works");

    app.clock.advance(time::Duration::minutes(10));
    assert_eq!(ls_remote(&git(&app, "ada@example.com", RIGHT)).await, 200);
}

#[actix_web::test]
async fn a_locked_account_is_locked_at_git_under_all_its_names() {
    let app = TestApp::new();
    set_up(&app);
    assert_eq!(ls_remote(&git(&app, "ada", RIGHT)).await, 200);
    for login in ["ada", "ADA@example.com"].repeat(5) {
        assert_eq!(sign_in(&app, login, "wrong").await.status, 400);
    }

    assert_eq!(ls_remote(&git(&app, "ada", RIGHT)).await, 429, "though it was right a moment ago");
    assert_eq!(sign_in(&app, "ada@example.com", RIGHT).await.status, 429);
}

#[actix_web::test]
async fn guesses_at_git_count_for_their_address() {
    let app = TestApp::with_limits(Limits { address_per_minute: 4, ..Limits::default() });
    set_up(&app);
    let token = |secret: &str| app.anonymous().sending("PRIVATE-TOKEN", secret);
    let guesses = [
        git(&app, "ada", "wrong"),
        git(&app, "nobody", "glpat-wrong"),
        token("glpat-wrong"),
        app.anonymous().sending("Authorization", "Digest odd"),
    ];
    for guess in &guesses {
        assert_eq!(ls_remote(&guess.from("192.0.2.1")).await, 401);
    }

    for guess in guesses.iter().chain([&git(&app, "ada", RIGHT)]) {
        assert_eq!(ls_remote(&guess.from("192.0.2.1")).await, 429);
    }
    let known = app.person("ada").by_password().from("192.0.2.1");
    assert_eq!(ls_remote(&known).await, 200, "who has a token counts as a person");
    let elsewhere = git(&app, "ada", RIGHT).from("192.0.2.2");
    for _ in 0..6 {
        assert_eq!(ls_remote(&elsewhere).await, 200, "a right password is no guess");
    }
}

#[actix_web::test]
async fn only_a_few_wait_for_a_hash_at_once() {
    let app = TestApp::new();
    set_up(&app);
    let root = app.admin();
    let seats = all_seats(&app, SlotOwner::Address(None));

    let refused = sign_in(&app, "ada", RIGHT).await;
    assert_eq!(refused.header("retry-after"), Some("2"));
    refused.refused(429, json!({ "message": { "error": WAIT } }));
    let at_git = git(&app, "ada", RIGHT);
    assert_eq!(ls_remote(&at_git).await, 429);
    let new = |name: &str| json!({ "username": name, "name": name, "email": format!("{name}@b.test"), "password": "analytical 1" });
    root.post("/users", new("bob")).await.created();
    let theirs = all_seats(&app, SlotOwner::User(app.user("root").id));
    assert_eq!(root.post("/users", new("cyd")).await.status, 429);

    drop((seats, theirs));
    root.post("/users", new("cyd")).await.created();
    assert_eq!(ls_remote(&at_git).await, 200);
    sign_in(&app, "ada", RIGHT).await.ok();
}

#[actix_web::test]
async fn nothing_is_hashed_for_an_invitation_that_is_not_there() {
    let app = TestApp::new();
    set_up(&app);
    let _seats = all_seats(&app, SlotOwner::Address(None));
    let shown: Value = json!({ "login": "ada", "password": RIGHT });

    let told = app.anonymous().post("//-/invites/nosuchtoken", shown).await;

    told.refused(404, json!({ "message": "404 Not Found" }));
}
