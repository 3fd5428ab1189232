//! Lists of issues: who sees which, and every filter.

use kernel::{
    AccessLevel::{Guest, Reporter},
    Visibility::{Private, Public},
    ids::ProjectId,
};
use serde_json::{Value, json};

use crate::support::{Person, TestApp};

async fn titles(person: &Person<'_>, path: &str) -> Vec<Value> {
    person.get(path).await.each("title")
}

async fn write(person: &Person<'_>, project: ProjectId, more: Value) -> Value {
    person.post(&format!("/projects/{project}/issues"), more).await.created()
}

/// Three issues of `ada`'s that differ in everything.
async fn three(app: &TestApp) -> (Person<'_>, ProjectId) {
    let ada = app.person("ada");
    let group = ada.group_with("orchid", json!({ "visibility": "private" })).await;
    let project = json!({ "name": "forge", "namespace_id": group, "visibility": "private" });
    let project = ada.post("/projects", project).await.created()["id"].as_i64().expect("an id");
    let project = ProjectId(project);
    let bob = app.member(project, "bob", Reporter);
    let milestones = format!("/projects/{project}/milestones");
    let soon = json!({ "title": "soon", "start_date": "2026-02-01", "due_date": "2026-03-01" });
    let soon = ada.post(&milestones, soon).await.created()["id"].clone();
    let now = json!({ "title": "now", "start_date": "2025-12-01", "due_date": "2026-01-01" });
    let now = ada.post(&milestones, now).await.created()["id"].clone();
    write(
        &ada,
        project,
        json!({ "title": "first", "description": "the engine is loud", "labels": "bug,ui", "weight": 1,
                "milestone_id": soon, "assignee_ids": [app.user("bob").id.0], "due_date": "2026-01-01",
                "health_status": "on_track" }),
    )
    .await;
    write(
        &bob,
        project,
        json!({ "title": "second", "description": "quiet Engine", "labels": "bug", "milestone_id": now,
                "due_date": "2026-01-02", "confidential": true, "weight": 5 }),
    )
    .await;
    let third = json!({ "title": "third engine", "issue_type": "incident" });
    let third = write(&ada, project, third).await;
    let close = json!({ "state_event": "close" });
    ada.put(&format!("/projects/{project}/issues/{}", third["iid"]), close).await.ok();
    (ada, project)
}

#[actix_web::test]
async fn a_time_that_is_shown_bounds_a_list_as_it_stands() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    app.clock.advance(time::Duration::microseconds(1_500));
    write(&ada, project, json!({ "title": "first" })).await;

    let list = format!("/projects/{project}/issues");
    for parameter in ["created_before", "updated_before"] {
        assert_eq!(ada.counts_until(&list, parameter).await, [1, 0], "{parameter}");
    }
}

#[actix_web::test]
async fn every_filter_of_a_list_acts() {
    let app = TestApp::new();
    let (ada, project) = three(&app).await;
    let (first, second, third) = ("first", "second", "third engine");
    let (ada_id, bob_id) = (app.user("ada").id, app.user("bob").id);

    for (query, found) in [
        ("".to_owned(), &[third, second, first][..]),
        ("state=opened".into(), &[second, first]),
        ("state=closed".into(), &[third]),
        ("scope=created_by_me".into(), &[third, first]),
        ("scope=assigned-to-me".into(), &[]),
        (format!("author_id={bob_id}"), &[second]),
        ("author_username=ADA".into(), &[third, first]),
        ("author_username=nobody".into(), &[]),
        ("author_username=".into(), &[third, second, first]),
        (format!("assignee_id={bob_id}"), &[first]),
        (format!("assignee_id={ada_id}"), &[]),
        ("assignee_id=none".into(), &[third, second]),
        ("assignee_id=Any".into(), &[first]),
        ("assignee_username=bob".into(), &[first]),
        ("assignee_username[]=bob&assignee_username[]=ada".into(), &[]),
        ("labels=bug".into(), &[second, first]),
        ("labels=bug,ui".into(), &[first]),
        ("labels[]=bug&labels[]=ui".into(), &[first]),
        ("labels=none".into(), &[third]),
        ("labels=No+Label".into(), &[third]),
        ("labels=ANY".into(), &[second, first]),
        ("labels=Bug".into(), &[]),
        ("milestone=soon".into(), &[first]),
        ("milestone=None".into(), &[third]),
        ("milestone=any".into(), &[second, first]),
        ("milestone_id=None".into(), &[third]),
        ("milestone_id=Any".into(), &[second, first]),
        ("milestone_id=Upcoming".into(), &[first]),
        ("milestone_id=Started".into(), &[second]),
        ("iids[]=1&iids[]=3".into(), &[third, first]),
        ("confidential=true".into(), &[second]),
        ("confidential=false".into(), &[third, first]),
        ("issue_type=incident".into(), &[third]),
        ("weight=5".into(), &[second]),
        ("weight=None".into(), &[third]),
        ("weight=Any".into(), &[second, first]),
        ("health_status=on_track".into(), &[first]),
        ("health_status=None".into(), &[third, second]),
        ("due_date=0".into(), &[third]),
        ("due_date=".into(), &[third]),
        ("due_date=any".into(), &[second, first]),
        ("due_date=today".into(), &[first]),
        ("due_date=tomorrow".into(), &[second]),
        ("due_date=overdue".into(), &[]),
        ("due_date=month".into(), &[second, first]),
        // The first day of the year is a Thursday.
        ("due_date=week".into(), &[second, first]),
        ("due_date=next_month_and_previous_two_weeks".into(), &[second, first]),
        ("search=engine".into(), &[third, second, first]),
        ("search=ENGINE+loud".into(), &[first]),
        ("search=engine&in=title".into(), &[third]),
        ("search=engine&in=description".into(), &[second, first]),
        ("search=engine&in=title,description".into(), &[third, second, first]),
        ("search=third+quiet".into(), &[]),
        ("search=ngin".into(), &[third, second, first]),
        ("search=%22is+loud%22".into(), &[first]),
        ("search=100%25".into(), &[]),
        ("created_after=2030-01-01".into(), &[]),
        ("created_before=2030-01-01".into(), &[third, second, first]),
        ("updated_after=2030-01-01".into(), &[]),
        ("updated_before=2030-01-01".into(), &[third, second, first]),
        (
            "created_after=2026-01-01T00:00:00Z&created_before=2026-01-01T00:00:00Z".into(),
            &[third, second, first],
        ),
        ("created_before=2025-12-31T23:59:59Z".into(), &[]),
        ("health_status=Any".into(), &[first]),
        ("iteration_id=None".into(), &[third, second, first]),
        ("iteration_title=Any".into(), &[]),
        ("epic_id=None".into(), &[third, second, first]),
        ("epic_id=Any".into(), &[]),
        ("my_reaction_emoji=None".into(), &[third, second, first]),
        ("my_reaction_emoji=Any".into(), &[]),
        (format!("closed_by_id={ada_id}"), &[third]),
        ("not[labels]=ui".into(), &[third, second]),
        ("not[labels]=ui,bug".into(), &[third]),
        ("not[milestone]=soon".into(), &[third, second]),
        ("not[milestone_id]=Upcoming".into(), &[second]),
        ("not[milestone_id]=Started".into(), &[first]),
        ("not[iids]=1".into(), &[third, second]),
        (format!("not[author_id]={ada_id}"), &[second]),
        ("not[author_username]=bob".into(), &[third, first]),
        (format!("not[assignee_id]={bob_id}"), &[third, second]),
        ("not[assignee_username]=bob".into(), &[third, second]),
        ("not[weight]=5".into(), &[third, first]),
        ("not[iteration_id]=1".into(), &[third, second, first]),
        ("not[iteration_title]=x".into(), &[third, second, first]),
        ("not[epic_id]=1".into(), &[third, second, first]),
    ] {
        let path = format!("/projects/{project}/issues?{query}");
        assert_eq!(titles(&ada, &path).await, found, "{query}");
        let everywhere = if query.contains("scope") { query } else { format!("scope=all&{query}") };
        assert_eq!(titles(&ada, &format!("/issues?{everywhere}")).await, found, "{everywhere}");
        let of_group = format!("/groups/orchid/issues?{everywhere}");
        assert_eq!(titles(&ada, &of_group).await, found, "{of_group}");
    }
}

#[actix_web::test]
async fn lists_come_in_every_order() {
    let app = TestApp::new();
    let (ada, project) = three(&app).await;
    app.clock.advance(time::Duration::minutes(1));
    let path = format!("/projects/{project}/issues");
    ada.put(&format!("{path}/2"), json!({ "title": "again" })).await.ok();
    let label = json!({ "priority": 1 });
    ada.put(&format!("/projects/{project}/labels/ui"), label).await.ok();

    for (query, iids) in [
        ("", [3, 2, 1]),
        ("sort=asc", [1, 2, 3]),
        ("order_by=updated_at", [2, 3, 1]),
        ("order_by=due_date", [2, 1, 3]),
        ("order_by=due_date&sort=asc", [1, 2, 3]),
        ("order_by=title&sort=asc", [2, 1, 3]),
        ("order_by=weight", [2, 1, 3]),
        ("order_by=weight&sort=asc", [1, 2, 3]),
        ("order_by=milestone_due&sort=asc", [2, 1, 3]),
        ("order_by=label_priority&sort=asc", [1, 3, 2]),
        ("order_by=priority&sort=asc", [2, 1, 3]),
        ("order_by=relative_position&sort=desc", [1, 2, 3]),
        ("order_by=popularity", [3, 2, 1]),
    ] {
        let found = ada.get(&format!("{path}?{query}")).await.each("iid");
        assert_eq!(found, iids.map(|iid| json!(iid)), "{query}");
        let found = ada.get(&format!("/issues?scope=all&{query}")).await.each("iid");
        assert_eq!(found, iids.map(|iid| json!(iid)), "everywhere {query}");
    }
}

#[actix_web::test]
async fn a_list_is_paged_and_says_how_long_it_is() {
    let app = TestApp::new();
    let (ada, project) = three(&app).await;

    for path in
        [format!("/projects/{project}/issues?per_page=2"), "/issues?scope=all&per_page=2".into()]
    {
        let first = ada.get(&path).await;
        assert_eq!((first.header("x-total"), first.header("x-next-page")), (Some("3"), Some("2")));
        assert_eq!(first.each("iid"), [json!(3), json!(2)]);
        let second = ada.get(&format!("{path}&page=2")).await;
        assert_eq!((second.header("x-total"), second.header("x-next-page")), (Some("3"), Some("")));
        assert_eq!(second.each("iid"), [json!(1)]);
    }
    let keyset = ada.get(&format!("/projects/{project}/issues?pagination=keyset")).await;
    let refusal = "Keyset pagination is not yet available for this type of request";
    keyset.refused(405, json!({ "error": refusal }));
}

#[actix_web::test]
async fn what_nearly_all_have_is_listed_and_counted_as_what_few_have() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    let elsewhere = app.project(&ada, "other", Private);
    let ada_id = app.user("ada").id.0;
    for number in 1..=30 {
        let labels = if number % 10 == 0 { "bug,rare" } else { "bug" };
        let body =
            json!({ "title": number.to_string(), "labels": labels, "assignee_ids": [ada_id] });
        write(&ada, project, body.clone()).await;
        write(&ada, elsewhere, body).await;
    }
    let plain = json!({ "title": "31" });
    write(&ada, project, plain).await;

    for query in ["labels=bug", "labels=bug&state=opened"]
        .map(str::to_owned)
        .into_iter()
        .chain([format!("assignee_id={ada_id}")])
    {
        let path = format!("/projects/{project}/issues?{query}&per_page=4&page=2");
        let page = ada.get(&path).await;
        assert_eq!(page.header("x-total"), Some("30"), "{query}");
        assert_eq!(page.each("title"), ["26", "25", "24", "23"], "{query}");
        let oldest = titles(&ada, &format!("{path}&order_by=title&sort=asc")).await;
        assert_eq!(oldest, ["13", "14", "15", "16"], "{query}");
    }
    let rare = format!("/projects/{project}/issues?labels=rare,bug&state=opened");
    assert_eq!(titles(&ada, &rare).await, ["30", "20", "10"]);
    let of_both = ada.get("/issues?labels=rare&scope=all").await;
    assert_eq!(of_both.header("x-total"), Some("6"));
}

#[actix_web::test]
async fn what_contradicts_itself_or_is_no_value_is_refused() {
    let app = TestApp::new();
    let (ada, project) = three(&app).await;

    for (query, told) in [
        ("milestone=a&milestone_id=Any", "milestone, milestone_id are mutually exclusive"),
        ("author_id=1&author_username=a", "author_id, author_username are mutually exclusive"),
        (
            "assignee_id=1&assignee_username=a",
            "assignee_id, assignee_username are mutually exclusive",
        ),
        (
            "iteration_id=1&iteration_title=a",
            "iteration_id, iteration_title are mutually exclusive",
        ),
        ("assignee_id=x", "assignee_id should be an integer, none, or any, however got x"),
        ("milestone_id=upcoming", "milestone_id does not have a valid value"),
        ("state=merged", "state does not have a valid value"),
        ("scope=mine", "scope does not have a valid value"),
        ("order_by=age", "order_by does not have a valid value"),
        ("due_date=never", "due_date does not have a valid value"),
        ("health_status=fine", "health_status does not have a valid value"),
        ("created_after=soon", "created_after is invalid"),
        ("updated_before=soon", "updated_before is invalid"),
        ("confidential=maybe", "confidential is invalid"),
        ("issue_type=bug", "issue_type does not have a valid value"),
        ("sort=up", "sort does not have a valid value"),
        ("with_labels_details=maybe", "with_labels_details is invalid"),
        ("iids[]=x", "iids is invalid"),
    ] {
        for list in [
            format!("/projects/{project}/issues"),
            "/issues".into(),
            "/groups/orchid/issues".into(),
        ] {
            let path = format!("{list}?{query}");
            ada.get(&path).await.refused(400, json!({ "error": told }));
        }
    }
}

#[actix_web::test]
async fn a_word_of_the_same_letters_is_found_as_a_whole_and_not_by_its_beginning() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    let (long, short) = ("x".repeat(200), "x".repeat(199));
    for (title, description) in [
        ("whole", format!("X{long}Y cat")),
        ("beginning", format!("{short} {short}y cat")),
        (long.as_str(), "no animal".to_owned()),
        ("я", "Я".repeat(150)),
    ] {
        write(&ada, project, json!({ "title": title, "description": description })).await;
    }

    let list = format!("/projects/{project}/issues?scope=all&in=title,description&search=");
    let found = async |word: &str| titles(&ada, &format!("{list}{word}")).await;
    assert_eq!(found(&long).await, [long.as_str(), "whole"]);
    assert_eq!(found(&format!("{long}+cat")).await, ["whole"], "in one field");
    assert_eq!(found(&format!("{short}Y")).await, ["beginning", "whole"]);
    assert_eq!(found(&"%D1%8F".repeat(150)).await, ["я"]);
    assert_eq!(found(&"%D1%8F".repeat(151)).await, Vec::<Value>::new());
    let mine = format!("/issues?search={long}&in=description");
    assert_eq!(titles(&ada, &mine).await, ["whole"]);
}

#[actix_web::test]
async fn everybody_sees_what_they_may_read_and_nothing_else() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let open = app.project(&ada, "open", Public);
    let closed = app.project(&ada, "closed", Private);
    write(&ada, open, json!({ "title": "seen" })).await;
    write(&ada, closed, json!({ "title": "inner" })).await;
    let guest = app.member(closed, "gus", Guest);

    assert_eq!(titles(&ada, "/issues").await, ["inner", "seen"], "one's own where nothing is said");
    assert_eq!(titles(&guest, "/issues").await, Vec::<Value>::new());
    assert_eq!(titles(&guest, "/issues?scope=all").await, ["inner", "seen"]);
    assert_eq!(titles(&app.person("eve"), "/issues?scope=all").await, ["seen"]);
    assert_eq!(titles(&app.anonymous(), "/issues?scope=all").await, ["seen"]);
    assert_eq!(titles(&app.admin(), "/issues?scope=all").await, ["inner", "seen"]);
    app.anonymous().get("/issues").await.refused(401, json!({ "message": "401 Unauthorized" }));
    let settings = json!({ "issues_access_level": "private" });
    ada.put(&format!("/projects/{open}"), settings).await.ok();
    let eve = app.person("eve");
    assert_eq!(titles(&eve, "/issues?scope=all").await, Vec::<Value>::new());
    assert_eq!(titles(&eve, &format!("/projects/{open}/issues")).await, Vec::<Value>::new());
    let one = eve.get(&format!("/projects/{open}/issues/1")).await;
    one.refused(404, json!({ "message": "404 Not found" }));
}

#[actix_web::test]
async fn a_group_shows_what_lies_below_it_as_seen_from_there() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = ada.post("/groups", json!({ "name": "Orchid", "path": "orchid" })).await.created();
    let group = group["id"].clone();
    let inner = json!({ "name": "Leaf", "path": "leaf", "parent_id": group });
    let inner = ada.post("/groups", inner).await.created()["id"].clone();
    for (name, home) in [("site", &group), ("stem", &inner)] {
        let project = json!({ "name": name, "namespace_id": home });
        let id = ada.post("/projects", project).await.created()["id"].as_i64().unwrap();
        write(&ada, ProjectId(id), json!({ "title": name })).await;
        if name == "stem" {
            ada.post(&format!("/projects/{id}/archive"), json!({})).await.created();
        }
    }
    let other = app.project(&ada, "other", Private);
    write(&ada, other, json!({ "title": "elsewhere" })).await;
    let list = format!("/groups/{group}/issues");

    assert_eq!(titles(&ada, &list).await, ["site"]);
    let all = ada.get(&format!("{list}?non_archived=false")).await.each("references");
    assert_eq!(all[0]["relative"], "orchid/leaf/stem#1");
    assert_eq!(all[1]["relative"], "site#1");
    let hidden = json!({ "message": "404 Group Not Found" });
    app.person("eve").get(&list).await.refused(404, hidden);
}

#[actix_web::test]
async fn labels_come_with_their_details_when_wanted() {
    let app = TestApp::new();
    let (ada, project) = three(&app).await;

    let list = format!("/projects/{project}/issues?iids=1");
    assert_eq!(ada.get(&list).await.each("labels"), [json!(["bug", "ui"])]);
    let detailed = ada.get(&format!("{list}&with_labels_details=true")).await.each("labels");
    assert_eq!(detailed[0][0]["name"], "bug");
    assert_eq!(detailed[0][0]["color"], "#6699cc");
    assert_eq!(ada.get(&list).await.ok()[0].get("subscribed"), None);
}

#[actix_web::test]
async fn issues_are_counted_as_a_list_would_show_them() {
    let app = TestApp::new();
    let (ada, project) = three(&app).await;
    let counts = |all: i64, closed: i64, opened: i64| json!({ "statistics": { "counts": { "all": all, "closed": closed, "opened": opened } } });

    let of_project = format!("/projects/{project}/issues_statistics");
    assert_eq!(ada.get(&of_project).await.ok(), counts(3, 1, 2));
    assert_eq!(ada.get(&format!("{of_project}?labels=bug")).await.ok(), counts(2, 0, 2));
    assert_eq!(ada.get("/issues_statistics").await.ok(), counts(2, 1, 1));
    assert_eq!(ada.get("/issues_statistics?scope=all").await.ok(), counts(3, 1, 2));
    let eve = app.person("eve");
    assert_eq!(eve.get("/issues_statistics?scope=all").await.ok(), counts(0, 0, 0));
    eve.get(&of_project).await.refused(404, json!({ "message": "404 Project Not Found" }));
}
