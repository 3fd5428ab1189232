//! What no client should send: each time a clear refusal, and nothing is changed.

use std::{collections::BTreeMap, path::PathBuf};

use actix_web::http::Method;
use gateway::{rest, route::RouteRow};
use kernel::ids::ProjectId;
use proptest::{
    collection::{btree_map, vec},
    prelude::{Just, Strategy, any, prop_oneof},
    sample::{Index, select},
    strategy::ValueTree as _,
    test_runner::TestRunner,
};
use repo::testing::Fixture;
use serde_json::{Value, json};

use crate::support::{Answer, Person, RowRequest, TestApp, declared};

/// GraphQL refuses in a shape of its own: `graphql::endpoint`.
fn rows() -> impl Iterator<Item = &'static RouteRow> {
    rest::tables().into_iter().flatten().filter(|row| row.pattern != "//api/graphql")
}

type State = (BTreeMap<String, i64>, Vec<(PathBuf, String)>);

/// A forge with a repository, and what it holds.
struct TestForge {
    app: TestApp,
    project: ProjectId,
}

impl TestForge {
    fn new() -> Self {
        let app = TestApp::new();
        let project = app.project_from(&Fixture::new());
        app.state.set_ready(true);
        Self { app, project }
    }

    fn asked(&self, row: &'static RouteRow) -> RowRequest {
        RowRequest::of(row, &self.project.to_string())
    }

    /// How many rows each table has, and where all refs are.
    fn state(&self) -> State {
        (self.app.row_counts(), self.app.refs(self.project))
    }
}

/// What is wrong with an answer to something that cannot be done; nothing is when it was done.
fn complaint(answer: &Answer) -> Option<String> {
    let (message, error) = (&answer.body["message"], &answer.body["error"]);
    // Where both are there, they say the same.
    let untold = match message.is_null() == error.is_null() {
        true => message.is_null() || message != error,
        false => false,
    };
    // A page tells a person.
    let page = answer.header("content-type").is_some_and(|kind| kind.starts_with("text/html"));
    match answer.status {
        500.. => Some("is our failure".to_owned()),
        400..500 if untold && !page => Some("does not say why".to_owned()),
        _ => None,
    }
}

/// A value of another type than the schema's; `None` where every value will do.
fn mistyped(schema: &Value) -> Option<Value> {
    let kind = schema["type"].as_str().unwrap_or_default();
    Some(match kind {
        _ if schema.get("enum").is_some() => json!("no such word"),
        "integer" | "number" | "boolean" | "object" => json!("no such thing"),
        "array" if schema["items"]["type"] == "object" => json!(["no hash"]),
        "array" => json!([{ "no": "text" }]),
        "string" if schema.get("format").is_some() => json!("no such thing"),
        "string" => json!({ "no": "text" }),
        _ => return None,
    })
}

#[actix_web::test]
async fn every_declared_type_is_kept() {
    let place = TestForge::new();
    let root = place.app.admin();
    let before = place.state();
    let mut wrong = Vec::new();
    // Runners are told what is wrong with a report only once the token of the job was looked at, with its state.
    // The one asks for the token of its job first, the other for the signature of a node.
    let judges_later = |row: &&RouteRow| {
        [("PUT", "/jobs/{job_id}"), ("POST", "/geo/status")].contains(&(row.method, row.pattern))
    };
    for row in rows().filter(|row| !judges_later(row)) {
        for param in declared(row) {
            let in_path = row.pattern.contains(&format!("{{{}}}", param.name))
                || row.pattern.contains(&format!("{{*{}}}", param.name));
            let Some(value) = mistyped(&param.schema).filter(|value| !in_path || value.is_string())
            else {
                continue;
            };
            let answer = place.asked(row).with(param.name, &value).by(&root).await;
            let told = answer.body["error"].as_str().unwrap_or_default();
            if answer.status != 400 || !told.contains(param.name) {
                wrong.push(format!(
                    "{row:?} {} {value}: {} {}",
                    param.name, answer.status, answer.body
                ));
            }
        }
    }

    assert!(wrong.is_empty(), "{} answers:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(place.state(), before);
}

/// Text that is more than text to something behind the API.
fn hostile() -> Vec<Value> {
    let long = "a/".repeat(15_000);
    let texts = [
        "\0",
        "a\0b",
        "../../etc/passwd",
        "..",
        "/",
        "--output=x",
        "-1",
        "1000000000000000000",
        "9223372036854775807",
        "99999999999999999999",
        "1e9",
        "' or 1=1 --",
        "%",
        "\u{202e}\u{ffff}",
        "a..b",
        "@{-1}",
        ":/x",
        "refs/heads/../../HEAD",
        "\r\nX-Injected: 1",
        "  ",
        &long,
    ];
    texts.into_iter().map(|text| json!(text)).collect()
}

/// More parameters than most calls have.
const MANY: usize = 40;
/// So often a hostile text is sent under each name. Calls read parameters of one name in the same way.
const TIMES: usize = 2;
/// So many of the texts each parameter gets at least, since some calls read a name in a way of their own.
const LEAST: usize = 3;

fn names_of(row: &RouteRow) -> Vec<&'static str> {
    declared(row).iter().map(|param| param.name).chain(["id"]).collect()
}

/// Deals hostile texts out to the parameters of all calls.
struct Hostility {
    texts: Vec<Value>,
    /// How many calls have a parameter of the name, and which text is next for it.
    names: BTreeMap<&'static str, (usize, usize)>,
}

impl Hostility {
    fn new() -> Self {
        let mut names: BTreeMap<_, (usize, usize)> = BTreeMap::new();
        for name in rows().flat_map(names_of) {
            names.entry(name).or_default().0 += 1;
        }
        Self { texts: hostile(), names }
    }

    /// Each parameter of a call with as many texts as it takes for every text to be sent under its name, and some more of
    /// them where many calls have it. Where there are very many parameters, they share one way of being read, and each gets
    /// one of the texts.
    fn params(&mut self, row: &RouteRow) -> Vec<(&'static str, Value)> {
        let names = names_of(row);
        let all = self.texts.len();
        let most = if names.len() > MANY { 1 } else { all };
        let mut params = Vec::new();
        for name in names {
            let (calls, next) = self.names.entry(name).or_insert((1, 0));
            for _ in 0..(all * TIMES).div_ceil(*calls).max(LEAST).min(most) {
                params.push((name, self.texts[*next % all].clone()));
                *next += 1;
            }
        }
        params
    }
}

#[actix_web::test]
async fn hostile_text_is_told_what_is_wrong_with_it() {
    let place = TestForge::new();
    let root = place.app.admin();
    let mut state = place.state();
    let (mut wrong, mut hostility) = (Vec::new(), Hostility::new());
    for row in rows() {
        let writes = !matches!(row.method, "GET" | "HEAD");
        for (name, value) in hostility.params(row) {
            let answer = place.asked(row).with(name, &value).by(&root).await;
            let before =
                if writes { std::mem::replace(&mut state, place.state()) } else { state.clone() };
            let changed = answer.status >= 400 && state != before;
            let flaw = changed.then(|| "changed something".to_owned());
            if let Some(flaw) = complaint(&answer).filter(|_| row.method != "HEAD").or(flaw) {
                let shown: String = value.to_string().chars().take(40).collect();
                wrong.push(format!(
                    "{row:?} {name} {shown}: {} {flaw} {}",
                    answer.status, answer.body
                ));
            }
        }
    }

    assert!(wrong.is_empty(), "{} answers:\n{}", wrong.len(), wrong.join("\n"));
}

#[actix_web::test]
async fn a_megabyte_is_no_name() {
    let place = TestForge::new();
    let root = place.app.admin();
    let before = place.state();
    let long = json!("a".repeat(1 << 20));
    let mut wrong = Vec::new();
    for row in rows().filter(|row| !matches!(row.method, "GET" | "HEAD")) {
        for param in declared(row) {
            let in_path = row.pattern.contains(&format!("{{{}}}", param.name));
            let named = ["name", "path", "branch", "ref", "tag_name", "file_path", "username"];
            // The ref of a lint counts in dry runs alone, the name of an integration's account for kinds that have one.
            let counts_not = row.pattern.ends_with("/ci/lint") || row.pattern.ends_with("/{slug}");
            if in_path || counts_not || !named.contains(&param.name) {
                continue;
            }
            let answer = place.asked(row).with(param.name, &long).by(&root).await;
            if !(400..500).contains(&answer.status) || complaint(&answer).is_some() {
                wrong.push(format!("{row:?} {}: {}", param.name, answer.status));
            }
        }
    }

    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(place.state(), before);
}

/// Bodies that are not what they say they are, with their types.
fn broken_bodies() -> Vec<(&'static str, Vec<u8>)> {
    let json = "application/json";
    let deep = |open: &str, close: &str| [open.repeat(100_000), close.repeat(100_000)].concat();
    vec![
        (json, b"{".to_vec()),
        (json, b"{\"name\": nonsense}".to_vec()),
        (json, b"{\"name\": \"\xff\xfe\"}".to_vec()),
        (json, b"{\"name\": \"\\ud800\"}".to_vec()),
        (json, deep("[", "]").into_bytes()),
        (json, deep("{\"a\":", "}").into_bytes()),
        (json, b"{} {}".to_vec()),
        ("multipart/form-data", b"no boundary".to_vec()),
        ("multipart/form-data; boundary=b", b"--b\r\nno head".to_vec()),
        ("text/csv", b"a,b".to_vec()),
    ]
}

#[actix_web::test]
async fn a_body_that_cannot_be_read_is_refused() {
    let place = TestForge::new();
    let root = place.app.admin();
    let before = place.state();
    let mut wrong = Vec::new();
    // Artifacts and logs are not read for who shows no token of a job, a status not without the signature of a node.
    let unread = ["/jobs/{job_id}/artifacts", "/jobs/{job_id}/trace", "/geo/status"];
    let is_read = |row: &&RouteRow| !unread.contains(&row.pattern);
    let changes = rows().filter(|row| matches!(row.method, "POST" | "PUT" | "PATCH"));
    for row in changes.filter(is_read) {
        for (kind, body) in broken_bodies() {
            let asked = place.asked(row);
            let answer = root.send_bytes(asked.method(), &asked.path(), kind, &body).await;
            if !matches!(answer.status, 400 | 415) || !answer.body["error"].is_string() {
                wrong.push(format!("{row:?} {kind}: {} {}", answer.status, answer.body));
            }
        }
    }

    assert!(wrong.is_empty(), "{} answers:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(place.state(), before);
}

#[actix_web::test]
async fn many_small_things_are_no_burden() {
    let place = TestForge::new();
    let root = place.app.admin();
    let commits = format!("/projects/{}/repository/commits", place.project);
    let before = place.state();
    let names: String = (0..200_000).map(|number| format!("n{number}=1&")).collect();
    let form = "application/x-www-form-urlencoded";
    let none =
        json!({ "error": "branch is missing, commit_message is missing, actions is missing" });
    root.send_bytes(Method::POST, &commits, form, names.as_bytes()).await.refused(400, none);

    let nested = format!("{}=1", "a[b]".repeat(50_000));
    assert_eq!(root.send_bytes(Method::POST, &commits, form, nested.as_bytes()).await.status, 400);
    let body = json!({ "branch": "main", "commit_message": "m", "actions": vec![0; 200_000] });
    root.post(&commits, body).await.refused(400, json!({ "error": "actions is invalid" }));
    let twice = br#"{"branch": "a", "branch": "", "commit_message": "m", "actions": []}"#;
    let answer = root.send_bytes(Method::POST, &commits, "application/json", twice).await;
    answer.refused(400, json!({ "error": "branch is empty" }));
    assert_eq!(place.state(), before);
}

#[actix_web::test]
async fn numbers_beyond_all_pages_give_an_empty_page() {
    let place = TestForge::new();
    let root = place.app.admin();
    let branches = format!("/projects/{}/repository/branches", place.project);
    for page in ["1000000000000000000", "9223372036854775807"] {
        assert_eq!(root.get(&format!("{branches}?page={page}&per_page=100")).await.ok(), json!([]));
    }
    let first = root.get(&format!("{branches}?page=-9223372036854775808&per_page=-1")).await;
    assert_eq!((first.header("x-page"), first.header("x-per-page")), (Some("1"), Some("20")));
    let invalid = json!({ "error": "page is invalid" });
    root.get(&format!("{branches}?page=99999999999999999999")).await.refused(400, invalid);
    let nothing = json!({ "error": "per_page has a value not allowed" });
    root.get(&format!("{branches}?per_page=0")).await.refused(400, nothing);
}

#[actix_web::test]
async fn bytes_that_are_no_text_find_nothing() {
    let place = TestForge::new();
    let root = place.app.admin();
    let before = place.state();
    let mut wrong = Vec::new();
    // Whether a name is taken can be asked of any name, a note may be called anything, and a page says where the API has
    // what its address names, whether or not it is there.
    let any_name = |row: &&RouteRow| {
        row.pattern.ends_with("/exists")
            || row.pattern.ends_with("/custom_attributes/{key}")
            || row.pattern.contains("/page/")
    };
    let names_one = |row: &&RouteRow| row.pattern.contains('{') && !any_name(row);
    for row in rows().filter(names_one) {
        for bytes in
            ["%FF", "%C3%28", "%00", "a%00b", "..%2F..%2Fetc%2Fpasswd", "%2e%2e", "%", "%zz"]
        {
            let last = row.pattern.rfind('{').unwrap_or_default();
            let (start, end) = row.pattern.split_at(last);
            let end = end.split_once('}').map_or("", |(_, end)| end);
            let path = format!("{start}{bytes}{end}").replace("{id}", &place.project.to_string());
            let (method, body) = (place.asked(row).method(), place.asked(row).body());
            let answer = root.send(method, &path, Some(body)).await;
            let found = !(400..500).contains(&answer.status);
            if found || (row.method != "HEAD" && complaint(&answer).is_some()) {
                wrong.push(format!("{} {path}: {} {}", row.method, answer.status, answer.body));
            }
        }
    }

    assert!(wrong.is_empty(), "{} answers:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(place.state(), before);
}

#[actix_web::test]
async fn things_of_other_projects_are_not_found() {
    let place = TestForge::new();
    let grace = place.app.person("grace");
    let ada = place.app.person("ada");
    let other = place.app.project(&grace, "other", kernel::Visibility::Public);
    let theirs = format!("/projects/{}/protected_branches", place.project);
    let made = ada.post(&theirs, json!({ "name": "kept" })).await.created();
    let own = format!("/projects/{other}/protected_branches");
    grace.post(&own, json!({ "name": "own" })).await.created();
    let before = place.state();

    let record = made["push_access_levels"][0]["id"].clone();
    let missing = json!({ "message": "404 Not found" });
    for change in
        [json!({ "id": record, "_destroy": true }), json!({ "id": record, "access_level": 0 })]
    {
        let body = json!({ "allowed_to_push": [change] });
        grace.patch(&format!("{own}/own"), body).await.refused(404, missing.clone());
    }
    grace.delete(&format!("{own}/kept")).await.refused(404, missing);
    let commits = format!("/projects/{other}/repository/commits");
    let head = ada.get(&format!("/projects/{}/repository/commits", place.project)).await.each("id");
    let head = head[0].as_str().unwrap_or_default();
    let body =
        json!({ "branch": "stolen", "commit_message": "m", "start_sha": head, "actions": [] });
    assert_eq!(grace.post(&commits, body).await.status, 400);
    assert_eq!(grace.get(&format!("{commits}/{head}")).await.status, 404);
    assert_eq!(place.state(), before);
}

/// Any JSON, not deep.
fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        select(hostile()),
        select(vec!["main", "1", "true", "2030-01-01", "keyset", "asc", "id", "README.md"])
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map("[a-z_]{1,12}|user_id|id|access_level|action|file_path", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// The request that chance makes of a row: some of what it takes, and something that it does not.
fn chance(row: &'static RouteRow, values: &[(Index, Value)], asked: RowRequest) -> RowRequest {
    let mut names: Vec<&str> = declared(row).iter().map(|param| param.name).collect();
    names.extend(["page", "per_page", "pagination", "sudo", "id", "access_token", "nonsense"]);
    values
        .iter()
        .fold(asked, |asked, (place, value)| asked.with(names[place.index(names.len())], value))
}

/// Longer ones are no addresses for the test's own client.
const LONGEST_ADDRESS: usize = 60_000;

async fn by_chance(root: &Person<'_>, asked: &RowRequest, in_query: bool) -> Answer {
    if !in_query {
        return asked.by(root).await;
    }
    let body = asked.body();
    let pairs = body.as_object().into_iter().flatten().map(|(name, value)| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let text: String = text.chars().take(200).collect();
        let encode = |text: &str| {
            percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC)
                .to_string()
        };
        format!("{}={}", encode(name), encode(&text))
    });
    let mut url = format!("{}?", asked.path());
    // Some routes have more parameters than fit into an address.
    for pair in pairs {
        if url.len() + pair.len() > LONGEST_ADDRESS {
            break;
        }
        url.push_str(&pair);
        url.push('&');
    }
    root.send(asked.method(), &url, None).await
}

#[actix_web::test]
async fn nothing_that_chance_sends_breaks_a_route() {
    let mut runner = TestRunner::deterministic();
    let values = vec((any::<Index>(), anything()), 1..6);
    let mut wrong = Vec::new();
    let place = TestForge::new();
    let root = place.app.admin();
    for row in rows() {
        for turn in 0..12 {
            let values = values.new_tree(&mut runner).expect("values").current();
            let asked = chance(row, &values, place.asked(row));
            if asked.path().len() > LONGEST_ADDRESS {
                continue;
            }
            let answer = by_chance(&root, &asked, turn % 2 == 0).await;
            if answer.status >= 500 {
                wrong.push(format!("{row:?} {asked:?}: {} {}", answer.status, answer.body));
            }
        }
    }

    assert!(wrong.is_empty(), "{} answers:\n{}", wrong.len(), wrong.join("\n"));
}
