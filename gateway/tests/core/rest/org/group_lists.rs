//! Lists of groups: who learns of which, filters, orders and pages.

use kernel::AccessLevel::{Guest, Owner};
use proptest::{
    prelude::{Just, Strategy, any, prop_oneof},
    strategy::ValueTree,
    test_runner::TestRunner,
};
use serde_json::{Value, json};

use crate::support::{Person, TestApp};

async fn group(owner: &Person<'_>, path: &str, more: Value) -> i64 {
    let mut fields = json!({ "name": path, "path": path });
    for (name, value) in more.as_object().expect("fields") {
        fields[name] = value.clone();
    }
    owner.post("/groups", fields).await.created()["id"].as_i64().expect("an id")
}

async fn add(app: &TestApp, owner: &Person<'_>, group: i64, username: &str, level: i32) {
    let fields = json!({ "user_id": app.user(username).id, "access_level": level });
    owner.post(&format!("/groups/{group}/members"), fields).await.created();
}

async fn paths(person: &Person<'_>, query: &str) -> Vec<String> {
    let found = person.get(query).await.each("full_path");
    found.into_iter().map(|path| path.as_str().unwrap_or_default().to_owned()).collect()
}

/// `a/b/c` and `a/other`, all private, of `ada`'s.
async fn tree(ada: &Person<'_>) -> [i64; 4] {
    let a = group(ada, "aa", json!({})).await;
    let b = group(ada, "bb", json!({ "parent_id": a })).await;
    let c = group(ada, "cc", json!({ "parent_id": b })).await;
    let other = group(ada, "other", json!({ "parent_id": a })).await;
    [a, b, c, other]
}

#[actix_web::test]
async fn members_of_a_project_see_the_way_to_it() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let [a, _, c, other] = tree(&ada).await;
    let new = json!({ "name": "engine", "namespace_id": c });
    let engine = ada.post("/projects", new).await.created()["id"].as_i64().expect("an id");
    ada.post(&format!("/groups/{a}/labels"), json!({ "name": "bug", "color": "#ff0000" }))
        .await
        .created();
    let bob = app.member(kernel::ids::ProjectId(engine), "bob", Guest);

    assert_eq!(paths(&bob, "/groups").await, ["aa", "aa/bb", "aa/bb/cc"]);
    assert_eq!(bob.get(&format!("/groups/{a}/labels")).await.each("name"), ["bug"]);
    for list in ["issues", "merge_requests", "milestones"] {
        bob.get(&format!("/groups/{a}/{list}")).await.ok();
    }
    assert_eq!(bob.get(&format!("/groups/{c}/projects")).await.each("id"), [engine]);
    bob.get(&format!("/groups/{other}")).await.with(404);
    let user = app.user("bob").id;
    ada.delete(&format!("/projects/{engine}/members/{user}")).await.with(204);
    bob.get(&format!("/groups/{a}")).await.with(404);
    assert_eq!(paths(&bob, "/groups").await, Vec::<String>::new());
}

#[actix_web::test]
async fn members_see_the_way_to_their_groups_and_what_is_below_them() {
    let app = TestApp::new();
    let (ada, bob, eve) = (app.person("ada"), app.person("bob"), app.person("eve"));
    let [a, b, ..] = tree(&ada).await;
    add(&app, &ada, b, "bob", Guest.number()).await;

    let all = ["aa", "aa/bb", "aa/bb/cc"];
    assert_eq!(paths(&bob, "/groups").await, all);
    assert_eq!(bob.get("/groups?per_page=1").await.header("x-total"), Some("3"));
    assert_eq!(paths(&bob, "/groups?all_available=true").await, all);
    assert_eq!(paths(&bob, "/groups?top_level_only=true").await, ["aa"]);
    assert_eq!(paths(&bob, "/groups?min_access_level=5").await, ["aa/bb", "aa/bb/cc"]);
    assert_eq!(
        bob.get("/groups?min_access_level=10&per_page=1").await.header("x-total"),
        Some("2")
    );
    assert!(paths(&bob, "/groups?min_access_level=20").await.is_empty());
    assert!(paths(&bob, "/groups?owned=true&all_available=true").await.is_empty());
    assert_eq!(paths(&ada, "/groups?owned=true").await.len(), 4);
    assert!(paths(&eve, "/groups?all_available=true").await.is_empty());
    ada.delete(&format!("/groups/{b}/members/{}", app.user("bob").id)).await.with(204);
    assert!(paths(&bob, "/groups").await.is_empty(), "the way goes with the role");
    add(&app, &ada, a, "bob", Owner.number()).await;
    assert_eq!(paths(&bob, "/groups").await.len(), 4);
}

#[actix_web::test]
async fn the_way_to_a_group_goes_with_the_group() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let [_, b, ..] = tree(&ada).await;
    add(&app, &ada, b, "bob", Guest.number()).await;
    assert_eq!(paths(&bob, "/groups").await, ["aa", "aa/bb", "aa/bb/cc"]);

    ada.delete(&format!("/groups/{b}")).await.with(202);

    assert!(paths(&bob, "/groups").await.is_empty(), "the way goes with the group");
}

#[actix_web::test]
async fn people_invited_by_a_share_see_the_way_there() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let [_, b, ..] = tree(&ada).await;
    let crew = group(&bob, "crew", json!({ "visibility": "public" })).await;

    assert_eq!(paths(&bob, "/groups").await, ["crew"]);
    let share = json!({ "group_id": crew, "group_access": 30 });
    ada.post(&format!("/groups/{b}/share"), share).await.created();
    assert_eq!(paths(&bob, "/groups").await, ["aa", "aa/bb", "aa/bb/cc", "crew"]);
    ada.delete(&format!("/groups/{b}/share/{crew}")).await.with(204);
    assert_eq!(paths(&bob, "/groups").await, ["crew"], "the way goes with the share");
}

#[actix_web::test]
async fn the_way_to_a_group_is_where_the_group_is_now() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let [a, b, ..] = tree(&ada).await;
    let far = group(&ada, "far", json!({})).await;
    add(&app, &ada, b, "bob", Guest.number()).await;
    assert_eq!(paths(&bob, "/groups").await, ["aa", "aa/bb", "aa/bb/cc"]);

    ada.post(&format!("/groups/{b}/transfer"), json!({ "group_id": far })).await.created();
    assert_eq!(paths(&bob, "/groups").await, ["far/bb", "far/bb/cc", "far"]);
    let end = json!({ "access_level": 10, "expires_at": "2026-02-01" });
    ada.put(&format!("/groups/{b}/members/{}", app.id_of("bob")), end).await.ok();
    app.clock.advance(time::Duration::days(60));
    assert!(paths(&bob, "/groups").await.is_empty(), "the way ends with the role");
    add(&app, &ada, a, "bob", Guest.number()).await;
    assert_eq!(paths(&bob, "/groups").await, ["aa", "aa/other"]);
}

#[actix_web::test]
async fn nobody_learns_of_private_groups_from_lists_counts_or_searches() {
    let app = TestApp::new();
    let (ada, eve) = (app.person("ada"), app.person("eve"));
    let top = group(&ada, "open", json!({ "visibility": "public" })).await;
    group(&ada, "secret", json!({ "parent_id": top })).await;
    group(&ada, "shown", json!({ "parent_id": top, "visibility": "public" })).await;
    group(&ada, "inside", json!({ "parent_id": top, "visibility": "internal" })).await;
    let outsider = json!({ "username": "out", "name": "Out", "email": "out@example.org",
        "external": true, "force_random_password": true });
    app.admin().post("/users", outsider).await.created();

    for (person, seen) in [
        (app.anonymous(), vec!["open/shown"]),
        (app.person("out"), vec!["open/shown"]),
        (eve.clone(), vec!["open/inside", "open/shown"]),
    ] {
        for list in ["subgroups", "descendant_groups"] {
            let url = format!("/groups/{top}/{list}?all_available=true");
            let page = person.get(&url).await;
            assert_eq!(page.header("x-total"), Some(seen.len().to_string().as_str()), "{url}");
            assert_eq!(paths(&person, &url).await, seen, "{url}");
            assert!(paths(&person, &format!("{url}&search=secret")).await.is_empty());
        }
        for query in ["search=secret", "search=open%2Fsecret", "search=secret&order_by=similarity"]
        {
            let page = person.get(&format!("/groups?all_available=true&{query}")).await;
            assert_eq!(page.header("x-total"), Some("0"));
            assert_eq!(page.body, json!([]));
        }
    }
    assert!(paths(&eve, &format!("/groups/{top}/subgroups")).await.is_empty(), "she is no member");
    assert_eq!(paths(&ada, &format!("/groups/{top}/subgroups")).await.len(), 3);
    let hidden = json!({ "message": "404 Group Not Found" });
    eve.get("/groups/open%2Fsecret/subgroups").await.refused(404, hidden.clone());
    eve.get("/groups/none/subgroups").await.refused(404, hidden);
}

#[actix_web::test]
async fn a_search_wants_long_words_in_the_whole_path_or_the_whole_name() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let top = group(&ada, "research", json!({ "name": "Basic Science" })).await;
    let inner = group(&ada, "labs", json!({ "parent_id": top, "name": "Deep Water" })).await;
    group(&ada, "qa", json!({ "name": "Q" })).await;
    group(&ada, "a_b-100", json!({ "name": "Percents" })).await;
    let found = async |query: &str| paths(&ada, &format!("/groups?order_by=path&{query}")).await;

    assert_eq!(found("search=SEAR").await, ["research/labs", "research"]);
    assert_eq!(found("search=science").await, ["research/labs", "research"]);
    assert_eq!(found("search=water%20basic").await, ["research/labs"]);
    assert!(found("search=water%20labs").await.is_empty(), "no one column says both");
    assert_eq!(found("search=QA").await, ["qa"]);
    assert_eq!(found("search=q").await, ["qa"]);
    assert!(found("search=re").await.is_empty(), "short terms are the whole");
    assert_eq!(found("search=xx%20research%2Flabs").await, ["research/labs"]);
    assert_eq!(found("search=a_b").await, ["a_b-100"], "no letter stands for another");
    assert_eq!(found("search=%20").await.len(), 4);
    let below =
        async |query: &str| paths(&ada, &format!("/groups/{top}/descendant_groups?{query}")).await;
    assert_eq!(below("search=lab").await, ["research/labs"]);
    assert_eq!(below("search=deep").await, ["research/labs"]);
    assert!(below("search=research").await.is_empty(), "only the short path counts");
    assert_eq!(ada.get(&format!("/groups/{inner}/subgroups")).await.ok(), json!([]));
}

#[actix_web::test]
async fn likeness_comes_first_and_without_a_search_the_name() {
    let app = TestApp::new();
    let ada = app.person("ada");
    for path in ["steam-engines-and-more", "engine", "engine-two"] {
        group(&ada, path, json!({})).await;
    }
    let top = group(&ada, "zz", json!({})).await;

    let alike = "/groups?order_by=similarity&sort=asc&search=engine";
    assert_eq!(paths(&ada, alike).await, ["engine", "engine-two", "steam-engines-and-more"]);
    let second = format!("{alike}&per_page=1&page=2");
    assert_eq!(paths(&ada, &second).await, ["engine-two"]);
    assert_eq!(ada.get(&second).await.header("x-total"), Some("3"));
    assert_eq!(
        paths(&ada, "/groups?order_by=similarity").await,
        ["engine", "engine-two", "steam-engines-and-more", "zz"]
    );
    let wrong = json!({ "error": "order_by does not have a valid value" });
    ada.get("/groups?order_by=created_at").await.refused(400, wrong.clone());
    ada.get(&format!("/groups/{top}/subgroups?order_by=similarity")).await.refused(400, wrong);
}

#[actix_web::test]
async fn groups_are_left_out_in_each_way_of_writing_it() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let [a, b, c, _] = tree(&ada).await;

    for skipped in [format!("skip_groups={a},{c}"), format!("skip_groups[]={a}&skip_groups[]={c}")]
    {
        assert_eq!(paths(&ada, &format!("/groups?{skipped}")).await, ["aa/bb", "aa/other"]);
        assert_eq!(ada.get(&format!("/groups?{skipped}")).await.header("x-total"), Some("2"));
    }
    let below = format!("/groups/{a}/descendant_groups?skip_groups={b}&sort=desc");
    assert_eq!(paths(&ada, &below).await, ["aa/other", "aa/bb/cc"]);
    let wrong = json!({ "error": "skip_groups is invalid" });
    ada.get("/groups?skip_groups=x").await.refused(400, wrong);
}

#[actix_web::test]
async fn administrators_are_told_sizes_and_others_are_not() {
    let app = TestApp::new();
    let (ada, root) = (app.person("ada"), app.admin());
    let top = group(&ada, "top", json!({})).await;
    let project =
        ada.post("/projects", json!({ "name": "tool", "namespace_id": top })).await.created()["id"]
            .as_i64()
            .expect("an id");
    app.write(move |tx| {
        use org::project::statistics::StatisticsStore;
        tx.record_growth(kernel::ids::ProjectId(project), kernel::head::Growth::To(4096))
    });

    let told = root.get("/groups?statistics=true").await.ok();

    let sizes = &told[0]["statistics"];
    assert_eq!((&sizes["storage_size"], &sizes["repository_size"]), (&json!(4096), &json!(4096)));
    let text = told.to_string();
    let order = [
        "storage_size",
        "repository_size",
        "wiki_size",
        "lfs_objects_size",
        "job_artifacts_size",
        "pipeline_artifacts_size",
        "packages_size",
        "snippets_size",
        "uploads_size",
    ];
    assert_eq!(sizes.as_object().map(serde_json::Map::len), Some(order.len()));
    assert!(order.iter().all(|name| text.contains(name)));
    assert_eq!(root.get("/groups").await.ok()[0].get("statistics"), None);
    assert_eq!(ada.get("/groups?statistics=true").await.ok()[0].get("statistics"), None);
    assert!(paths(&root, "/groups?repository_storage=other").await.is_empty());
    assert_eq!(paths(&root, "/groups?repository_storage=default").await, ["top"]);
    assert_eq!(paths(&ada, "/groups?repository_storage=other").await, ["top"]);
}

#[actix_web::test]
async fn pages_are_counted_or_found_by_the_group_before() {
    let app = TestApp::new();
    let ada = app.person("ada");
    for path in ["one", "two", "three"] {
        group(&ada, path, json!({ "visibility": "public" })).await;
    }

    let page = ada.get("/groups?per_page=2").await;
    assert_eq!(page.header("x-total"), Some("3"));
    let nobody = app.anonymous();
    let refused =
        json!({ "error": "Keyset pagination is not yet available for this type of request" });
    for person in [&ada, &nobody] {
        let keyset = person.get("/groups?pagination=keyset&per_page=2").await;
        assert_eq!(keyset.header("x-total"), None);
        for query in ["order_by=path", "sort=desc", "order_by=similarity"] {
            let answer = person.get(&format!("/groups?pagination=keyset&{query}")).await;
            answer.refused(405, refused.clone());
        }
    }
    let far = json!({ "error": "Offset pagination has a maximum allowed offset of 50000 for requests that return \
        objects of type Group. Remaining records can be retrieved using keyset pagination." });
    nobody.get("/groups?page=501&per_page=100").await.refused(405, far);
    assert_eq!(nobody.get("/groups?page=500&per_page=100").await.ok(), json!([]));
    assert_eq!(ada.get("/groups?page=501&per_page=100").await.ok(), json!([]));
}

/// The address that a `Link` header calls the next page, below the API's root.
fn next(answer: &crate::support::Answer) -> Option<String> {
    let link = answer.header("link")?;
    let next = link.split(", ").find(|part| part.ends_with("rel=\"next\""))?;
    let url = next.strip_prefix('<')?.split('>').next()?;
    Some(url.split_once("/api/v4")?.1.to_owned())
}

#[actix_web::test]
async fn pages_of_groups_together_are_the_list() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let parents = [
        group(&ada, "left", json!({ "visibility": "public" })).await,
        group(&ada, "right", json!({ "visibility": "public" })).await,
    ];
    for number in 0..15_usize {
        // Equal names, so that the id decides.
        let more = json!({ "name": format!("Team {}", number / 2), "parent_id": parents[number % 2],
            "visibility": if number % 5 == 0 { "private" } else { "public" } });
        group(&ada, &format!("t{number}"), more).await;
    }
    let orders = prop_oneof![Just("id"), Just("name"), Just("path")];
    let cases = (1_usize..8, orders, any::<bool>(), any::<bool>());
    let mut runner = TestRunner::deterministic();
    for _ in 0..16 {
        let (per_page, order, descending, member) =
            cases.new_tree(&mut runner).expect("a case").current();
        let person = if member { ada.clone() } else { app.anonymous() };
        let sort = if descending { "desc" } else { "asc" };
        let list = format!("/groups?order_by={order}&sort={sort}");
        let whole = paths(&person, &format!("{list}&per_page=100")).await;
        let kinds: &[&str] = match (order, descending) {
            ("name", false) => &["", "&pagination=keyset"],
            _ => &[""],
        };
        for kind in kinds {
            let mut way = Some(format!("{list}&per_page={per_page}{kind}"));
            let mut seen = Vec::new();
            while let Some(path) = way {
                let page = person.get(&path).await;
                way = next(&page);
                let rows = page.each("full_path");
                seen.extend(rows.iter().filter_map(|path| path.as_str().map(str::to_owned)));
            }
            assert_eq!(seen, whole, "{list} {kind}");
            assert_eq!(whole.len(), if member { 17 } else { 14 });
        }
    }
}
