//! Lists of tags, held against git.

use std::collections::BTreeSet;

use forgeway_repo::{
    commit::Answers,
    name_filter::NameFilter,
    tag::{TagKey, TagOrder, TagPage, read},
    testing::Fixture,
};

/// Names of the letters and digits over which orders of versions differ; the same ones each time.
fn names(count: usize) -> Vec<String> {
    let letters = ["0", "0", "1", "2", "9", "10", ".", "-", "v", "rc"];
    let mut state = 42_u64;
    let mut next = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 40).unwrap() % below
    };
    (0..count).map(|_| (0..1 + next(7)).map(|_| letters[next(letters.len())]).collect()).collect()
}

#[test]
fn versions_are_ordered_as_git_orders_them() {
    let fixture = Fixture::new();
    let id = fixture.id("main");
    let wanted: BTreeSet<String> = names(400).into_iter().collect();
    let wanted = wanted
        .into_iter()
        .filter(|name| fixture.try_git(&["check-ref-format", &format!("refs/tags/{name}")], b"").0);
    let commands: String = wanted.map(|name| format!("update refs/tags/{name} {id}\n")).collect();
    fixture.git_with(&["update-ref", "--stdin"], commands.as_bytes());

    for (ascending, key) in [(true, "version:refname"), (false, "-version:refname")] {
        let order = TagOrder { key: TagKey::Version, ascending };
        let all = TagPage::After { name: None, count: 1000 };
        let (answers, filter) = (Answers::default(), NameFilter::default());
        let listed = read::list(&fixture.reader(), &answers, &filter, order, &all).unwrap();

        let names: Vec<String> = listed.items.into_iter().map(|tag| tag.name).collect();
        let format = ["--format=%(refname:lstrip=2)", "refs/tags"];
        let told = fixture.lines(&["for-each-ref", &format!("--sort={key}"), format[0], format[1]]);
        assert!(names.len() > 200 && names == told, "{names:?}\n{told:?}");
    }
}
