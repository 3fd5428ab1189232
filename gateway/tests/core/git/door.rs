//! Who is let in, and what those read who are not.

use kernel::{AccessLevel, Visibility};
use org::{
    token::Scope,
    user::{State, actions::NewUser, password},
};

use super::{Client, Forge, GitOutput, forge::secret};

async fn clone(url: &str) -> GitOutput {
    Client::new().git(&["clone", "-q", url, "."]).await
}

async fn push(url: &str) -> GitOutput {
    Client::with_commit().await.git(&["push", url, "main:topic"]).await
}

#[actix_web::test]
async fn without_a_credential_git_asks_for_one() {
    let forge = Forge::new();
    for path in ["alice/work.git", "alice/nothing.git"] {
        let complaint = clone(&forge.at("", path)).await.refused();
        assert!(complaint.contains("could not read Username"), "{complaint}");
    }
    let path = "//alice/work.git/info/refs?service=git-upload-pack";
    let answer = forge.app.anonymous().get(path).await;
    assert_eq!(answer.status, 401);
    assert_eq!(answer.header("WWW-Authenticate"), Some("Basic realm=\"GitLab\""));
}

#[actix_web::test]
async fn a_wrong_credential_is_refused_even_where_none_is_needed() {
    let forge = Forge::of(Visibility::Public);

    // Git shows what it has only when it is asked.
    let header = "http.extraHeader=PRIVATE-TOKEN: glpat-wrong";
    let words = ["-c", header, "clone", "-q", &forge.url_with("alice:glpat-wrong@"), "."];
    let complaint = Client::new().git(&words).await.refused();

    assert!(complaint.contains("Authentication failed"), "{complaint}");
    assert!(
        complaint.contains("remote: The user name, password or access token is not right."),
        "{complaint}"
    );
}

#[actix_web::test]
async fn a_token_opens_with_any_name_as_a_bearer_and_as_the_name() {
    let (forge, _) = Forge::with_commit(Visibility::Private).await;
    let token = secret(&forge.app.person("alice"));
    for credentials in
        [format!("whoever:{token}@"), format!("oauth2:{token}@"), format!("{token}:@")]
    {
        clone(&forge.url_with(&credentials)).await.ok();
    }
    let header = format!("http.extraHeader=Authorization: Bearer {token}");
    let words = ["-c", &header, "clone", "-q", &forge.url_with(""), "."];
    Client::new().git(&words).await.ok();
}

#[actix_web::test]
async fn a_token_that_is_spent_says_why() {
    let (forge, _) = Forge::with_commit(Visibility::Private).await;
    let alice = forge.app.person("alice");
    let url = forge.url_with(&format!("alice:{}@", secret(&alice)));
    clone(&url).await.ok();

    alice.delete("/personal_access_tokens/self").await.with(204);

    clone(&url).await.told("This access token was revoked. Please make a new one.");
}

#[actix_web::test]
async fn a_project_whose_repository_is_gone_says_so() {
    let (forge, _) = Forge::with_commit(Visibility::Private).await;
    forge.app.state.storage.delete(forge.project).unwrap();

    clone(&forge.url()).await.told("This project has no repository yet.");
}

#[actix_web::test]
async fn a_password_opens_too() {
    let (forge, _) = Forge::with_commit(Visibility::Internal).await;
    let hash = password::hash("let-me-in-1").unwrap();
    let bob = NewUser { password_hash: Some(hash), ..NewUser::named("bob") };
    forge.app.someone(&bob, &[]);

    clone(&forge.url_with("bob:let-me-in-1@")).await.ok();
    clone(&forge.url_with("bob:wrong@")).await.refused();
    clone(&forge.url_with("nobody:let-me-in-1@")).await.refused();
}

#[actix_web::test]
async fn blocked_people_are_told_so() {
    let (forge, _) = Forge::with_commit(Visibility::Internal).await;
    let url = forge.url_of(&NewUser::named("bob"), &[Scope::Api]);
    let bob = forge.app.user("bob").id;
    forge.app.write(move |tx| {
        use db::{each_backend, error, schema::users};
        use diesel::prelude::*;
        let row = users::table.find(bob);
        each_backend!(tx, |conn| diesel::update(row)
            .set(users::state.eq(State::Blocked))
            .execute(conn)
            .map_err(error("User")))
    });

    clone(&url).await.told("Your account has been blocked.");
}

#[actix_web::test]
async fn scopes_decide_what_a_token_may_do() {
    let (forge, _) = Forge::with_commit(Visibility::Private).await;
    let alice = NewUser::named("alice");
    for (scope, reads, writes) in [
        (Scope::Api, true, true),
        (Scope::WriteRepository, true, true),
        (Scope::ReadRepository, true, false),
        (Scope::ReadApi, true, false),
        (Scope::ReadUser, false, false),
    ] {
        let url = forge.url_of(&alice, &[scope]);
        assert_eq!(clone(&url).await.went_well(), reads, "{scope} reads");
        let said = Client::with_commit().await;
        let said = said.git(&["push", &url, &format!("main:{scope}")]).await;
        assert_eq!(said.went_well(), writes, "{scope} writes: {}", said.complaint());
    }
    let url = forge.url_of(&alice, &[Scope::ReadRepository]);
    push(&url)
        .await
        .told("This access token lacks the scope write_repository, which is needed here.");
}

#[actix_web::test]
async fn strangers_and_nothing_look_the_same() {
    let forge = Forge::new();
    let bob = secret(&forge.app.person("bob"));
    let sentence = "There is no such project, or you may not see it.";
    for path in ["alice/work.git", "alice/nothing.git", "nobody/nothing.git"] {
        let url = forge.at(&format!("bob:{bob}@"), path);
        clone(&url).await.told(sentence);
        push(&url).await.told(sentence);
    }
}

#[actix_web::test]
async fn roles_decide_who_reads_and_who_pushes() {
    let (forge, _) = Forge::with_commit(Visibility::Private).await;

    clone(&forge.url_of_member(AccessLevel::Guest))
        .await
        .told("You are not allowed to read this project's code.");
    let reporter = forge.url_of_member(AccessLevel::Reporter);
    clone(&reporter).await.ok();
    push(&reporter).await.told("You are not allowed to push to this project.");
    push(&forge.url_of_member(AccessLevel::Developer)).await.ok();
}

#[actix_web::test]
async fn nobody_pushes_to_a_public_project_unasked() {
    let (forge, client) = Forge::with_commit(Visibility::Public).await;
    let complaint = push(&forge.url_with("")).await.refused();
    assert!(complaint.contains("could not read Username"), "{complaint}");

    let stranger = forge.url_of(&NewUser::named("bob"), &[Scope::Api]);
    push(&stranger).await.told("You are not allowed to push to this project.");

    assert_eq!(forge.events().len(), 1);
    drop(client);
}

#[actix_web::test]
async fn an_archived_project_is_only_read() {
    let (forge, client) = Forge::with_commit(Visibility::Private).await;
    let project = forge.project;
    forge.app.write(move |tx| {
        use db::{each_backend, error, schema::projects};
        use diesel::prelude::*;
        let row = projects::table.find(project);
        each_backend!(tx, |conn| diesel::update(row)
            .set(projects::archived.eq(true))
            .execute(conn)
            .map_err(error("Project")))
    });

    clone(&forge.url()).await.ok();
    client
        .run("push origin main:topic")
        .await
        .told("This project is archived: it can be read, but nothing can be pushed to it.");
}

#[actix_web::test]
async fn old_and_foreign_clients_are_turned_away() {
    let (forge, _) = Forge::with_commit(Visibility::Public).await;
    let anybody = forge.app.anonymous();

    assert_eq!(anybody.get("//alice/work.git/info/refs").await.status, 403);
    assert_eq!(anybody.get("//alice/work.git/info/refs?service=git-x").await.status, 403);
    assert_eq!(anybody.get("//alice/work.git/git-upload-pack").await.status, 405);
    let posted = anybody.post("//alice/work.git/git-upload-pack", serde_json::json!({})).await;
    assert_eq!(posted.status, 415);
}
