//! Pages of a list together are the list, whatever their size, order and kind.

use std::collections::HashSet;

use kernel::Visibility::{Internal, Private, Public};
use proptest::{
    prelude::{Just, Strategy, any, prop_oneof},
    strategy::ValueTree,
    test_runner::TestRunner,
};

use crate::support::{Answer, Person, TestApp};

/// Far more than any list here has pages.
const ENDLESS: usize = 100;

fn ids(answer: &Answer) -> Vec<i64> {
    answer.body.as_array().into_iter().flatten().filter_map(|row| row["id"].as_i64()).collect()
}

/// The address that a `Link` header calls the next page, below the API's root.
fn next(answer: &Answer) -> Option<String> {
    let link = answer.header("link")?;
    let next = link.split(", ").find(|part| part.ends_with("rel=\"next\""))?;
    let url = next.strip_prefix('<')?.split('>').next()?;
    Some(url.split_once("/api/v4")?.1.to_owned())
}

/// The pages from `start` to the last, as their `Link` headers tell the way.
async fn walk(person: &Person<'_>, start: String) -> Vec<Answer> {
    let mut pages = Vec::new();
    let mut way = Some(start);
    while let Some(path) = way {
        let page = person.get(&path).await;
        assert_eq!(page.status, 200, "{path}: {}", page.body);
        way = next(&page);
        pages.push(page);
        assert!(pages.len() < ENDLESS, "{path} has no end");
    }
    pages
}

/// What every page of an offset-paginated list must say about where it is.
fn says_where_it_is(pages: &[Answer], all: usize, per_page: usize) {
    let count = all.div_ceil(per_page).max(1);
    assert_eq!(pages.len(), count);
    for (page, number) in pages.iter().zip(1_usize..) {
        let told = |name: &str| page.header(name).and_then(|text| text.parse::<usize>().ok());
        assert_eq!(told("x-total"), Some(all));
        assert_eq!(told("x-total-pages"), Some(count));
        assert_eq!(told("x-page"), Some(number));
        assert_eq!(told("x-per-page"), Some(per_page));
        assert_eq!(told("x-next-page"), Some(number + 1).filter(|next| *next <= count));
        assert_eq!(told("x-prev-page"), number.checked_sub(1).filter(|before| *before > 0));
    }
}

#[actix_web::test]
async fn pages_of_projects_are_the_list_in_order() {
    let app = TestApp::new();
    let ada = app.person("ada");
    for number in 0..23_usize {
        let visibility = [Public, Internal, Private][number % 3];
        app.project(&ada, &format!("p{}", number * 7 % 23), visibility);
    }
    let bob = app.person("bob");
    let orders =
        prop_oneof![Just("id"), Just("name"), Just("path"), Just("created_at"), Just("updated_at")];
    let cases = (1_usize..30, orders, any::<bool>(), any::<bool>());
    let mut runner = TestRunner::deterministic();
    for _ in 0..24 {
        let (per_page, order, descending, owner) =
            cases.new_tree(&mut runner).expect("a case").current();
        let (person, all) = if owner { (&ada, 23) } else { (&bob, 16) };
        let sort = if descending { "desc" } else { "asc" };
        let list = format!("/projects?order_by={order}&sort={sort}&per_page={per_page}");

        let pages = walk(person, list.clone()).await;

        says_where_it_is(&pages, all, per_page);
        let found: Vec<i64> = pages.iter().flat_map(ids).collect();
        assert_eq!(found.iter().collect::<HashSet<_>>().len(), all, "{list}: {found:?}");
        let whole = format!("/projects?order_by={order}&sort={sort}&per_page=100");
        assert_eq!(found, ids(&person.get(&whole).await), "{list}");
        if order == "id" {
            let keyset = walk(person, format!("{list}&pagination=keyset")).await;
            assert!(keyset.iter().all(|page| page.header("x-total").is_none()));
            assert_eq!(keyset.iter().flat_map(ids).collect::<Vec<_>>(), found, "{list}");
        }
    }
}

#[actix_web::test]
async fn a_keyset_does_not_repeat_or_skip_what_was_there_when_rows_come_and_go() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let made: Vec<i64> =
        (0..9).map(|number| app.project(&ada, &format!("p{number}"), Private).0).collect();

    let first = ada.get("/projects?pagination=keyset&order_by=id&sort=asc&per_page=4").await;
    let late = app.project(&ada, "late", Private).0;
    ada.delete(&format!("/projects/{}", made[1])).await.with(202);
    let rest = walk(&ada, next(&first).expect("a next page")).await;

    let found: Vec<i64> = ids(&first).into_iter().chain(rest.iter().flat_map(ids)).collect();
    assert_eq!(found, [made, vec![late]].concat());
}
