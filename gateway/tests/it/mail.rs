//! Letters on their way out.

use org::mail::{self, Letter};

use crate::support::{MailSink, TestApp};

fn letter() -> Letter {
    Letter {
        to: "ada@example.com".to_owned(),
        subject: "Grüße\r\nBcc: eve@example.com".to_owned(),
        text: "Dear Ada,\n.\nthe line above is no end.\n".to_owned(),
    }
}

#[actix_web::test]
async fn a_letter_arrives_once_its_transaction_has_committed() {
    let sink = MailSink::start();
    let app = TestApp::with_mail_to(&sink);

    app.write(|tx| mail::send(tx, letter()));
    assert!(sink.take().is_empty());
    app.work().await;

    let [received] = &sink.take()[..] else { panic!("one letter") };
    assert_eq!(received.from, "<forge@forge.test>");
    assert_eq!(received.to, ["ada@example.com"]);
    assert!(received.data.contains("the line above is no end."), "{}", received.data);
    assert!(!received.data.contains("\nBcc:"), "{}", received.data);
}

#[actix_web::test]
async fn a_letter_of_a_transaction_that_failed_is_never_sent() {
    let sink = MailSink::start();
    let app = TestApp::with_mail_to(&sink);

    let failed = app.state.db.write(|tx| {
        mail::send(tx, letter())?;
        Err::<(), _>(kernel::Error::missing())
    });

    assert!(failed.await.is_err());
    app.work().await;
    assert!(sink.take().is_empty());
}

#[actix_web::test]
async fn a_server_that_is_busy_gets_the_letter_later() {
    let sink = MailSink::start();
    let app = TestApp::with_mail_to(&sink);
    sink.refuse(1);

    app.write(|tx| mail::send(tx, letter()));
    app.work().await;
    assert!(sink.take().is_empty());
    app.clock.advance(time::Duration::minutes(1));
    app.work().await;

    assert_eq!(sink.take().len(), 1);
}

#[actix_web::test]
async fn without_a_server_a_letter_is_done_with() {
    let app = TestApp::new();

    app.write(|tx| mail::send(tx, letter()));

    assert_eq!(app.work().await, 1);
    assert_eq!(app.work().await, 0);
}

#[actix_web::test]
async fn a_letter_to_no_address_is_given_up() {
    let sink = MailSink::start();
    let app = TestApp::with_mail_to(&sink);

    app.write(|tx| mail::send(tx, Letter { to: "a@b>\r\nRCPT TO:<c@d".to_owned(), ..letter() }));

    assert_eq!(app.work().await, 1);
    assert!(sink.take().is_empty());
}
