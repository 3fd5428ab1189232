//! Reads in process, compared with git on a told history and on histories nobody thought of, with and without the
//! files that maintenance writes.

mod ancestry;
mod commits;
mod diff;
mod log;
mod refs;
mod tree;

use forgeway_repo::testing::Fixture;

/// The told history, plain and maintained.
fn told() -> [Fixture; 2] {
    let maintained = Fixture::new();
    maintained.maintain();
    [Fixture::new(), maintained]
}

/// Other histories, every second one maintained.
fn chanced() -> Vec<Fixture> {
    (1..=6)
        .map(|seed| {
            let fixture = Fixture::random(seed, 120);
            if seed % 2 == 0 {
                fixture.maintain();
            }
            fixture
        })
        .collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
