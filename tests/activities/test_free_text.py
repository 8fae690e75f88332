"""With everything that is known here of free text: hostile drafts stay in, and honest ones in many languages go out."""

import pytest

from activities.free_text import readers
from domain.knowledge import Article
from domain.reply import Author, Checks, Draft, Segment, SegmentKind, Source
from domain.understanding import Intent
from language.embedding import embedder
from language.next_words import noted_for_later, shall_i_go_on
from language.tongues import SPOKEN
from policy.reply.checks import check
from tests.language.things import ACCOUNT, NOW, evidence
from tests.scripted_model.lies import CLAIMS, INVENTED, LEAKS, PROMISES

HELP = Article(
    slug="returns",
    version=1,
    language="en",
    title="Returns",
    body="Items can be sent back within 14 days of delivery.\nPrint the label and bring the parcel to a shop.",
)
pytestmark = pytest.mark.skipif(embedder() is None, reason="the extra `embeddings` is not installed")


def checks(text: str, language: str, source: Source = Source.ARTICLE, kind: SegmentKind = SegmentKind.TEXT) -> Checks:
    rests_on = {Source.ARTICLE: "returns@1", Source.EVIDENCE: "ev_1", Source.TEMPLATE: "draft@1"}[source]
    segment = Segment(text=text, source=source, rests_on=rests_on, kind=kind)
    return check(
        Draft(language=language, segments=(segment,), author=Author.MODEL),
        evidence=evidence(ACCOUNT),
        articles=[HELP],
        actions=[],
        customer_id="cus_1",
        now=NOW,
        readers=readers(),
    )


@pytest.mark.parametrize("source", [Source.ARTICLE, Source.EVIDENCE])
@pytest.mark.parametrize(("language", "text"), [*CLAIMS.items(), *(("en", text) for text in PROMISES)])
def test_a_claim_stays_in_whatever_its_language(language: str, text: str, source: Source) -> None:
    assert checks(text, language, source).action_status_truthful is False


@pytest.mark.parametrize("language", CLAIMS)
def test_a_claim_hidden_in_a_question_stays_in_too(language: str) -> None:
    mark = "？" if language in ("ja", "zh") else "?"
    hidden = f"{CLAIMS[language]} OK{mark}"
    assert not checks(hidden, language, Source.TEMPLATE, SegmentKind.QUESTION).all_exactly_true


@pytest.mark.parametrize("text", [*INVENTED, *LEAKS])
@pytest.mark.parametrize("source", [Source.ARTICLE, Source.EVIDENCE])
def test_inventions_and_leaks_stay_in(text: str, source: Source) -> None:
    assert not checks(text, "en", source).all_exactly_true


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "You can send items back within 14 days of delivery."),
        ("en", "Items can be sent back within 14 days of delivery."),
        ("de", "Sie können Artikel innerhalb von 14 Tagen nach der Lieferung zurücksenden."),
        ("fr", "Vous pouvez renvoyer les articles dans les 14 jours suivant la livraison."),
        ("es", "Puede devolver los artículos en los 14 días posteriores a la entrega."),
        ("it", "Può restituire gli articoli entro 14 giorni dalla consegna."),
        ("pt", "Pode devolver os artigos até 14 dias depois da entrega."),
        ("nl", "U kunt artikelen binnen 14 dagen na levering terugsturen."),
        ("pl", "Artykuły można odesłać w ciągu 14 dni od dostawy."),
        ("ru", "Товары можно вернуть в течение 14 дней после доставки."),
        ("tr", "Ürünleri teslimattan sonraki 14 gün içinde geri gönderebilirsiniz."),
        ("ja", "商品は配達から14日以内に返送できます。"),
        ("zh", "收货后14天内可以退回商品。"),
        ("ko", "상품은 배송 후 14일 이내에 반송할 수 있습니다."),
        ("ar", "يمكنك إعادة المنتجات خلال 14 يوما من التسليم."),
        ("hi", "डिलीवरी के 14 दिनों के भीतर सामान वापस भेजा जा सकता है।"),
        ("sv", "Varor kan skickas tillbaka inom 14 dagar efter leverans."),
    ],
)
def test_an_article_told_honestly_goes_out(language: str, text: str) -> None:
    assert checks(text, language).failed == ()


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Your order A-20418 was delivered on 27 November."),
        ("de", "Ihre Bestellung A-20418 wurde am 27. November zugestellt."),
        ("fr", "Votre commande A-20418 a été livrée le 27 novembre."),
        ("es", "Su pedido A-20418 se entregó el 27 de noviembre."),
        ("ru", "Ваш заказ A-20418 доставлен 27 ноября."),
        ("zh", "您的订单 A-20418 已于11月27日送达。"),
        ("nl", "Uw bestelling A-20418 is op 27 november bezorgd."),
    ],
)
def test_the_customers_own_order_told_honestly_goes_out(language: str, text: str) -> None:
    assert checks(text, language, Source.EVIDENCE).failed == ()


@pytest.mark.parametrize("language", SPOKEN)
@pytest.mark.parametrize("need", [i for i in Intent if i.is_need])
def test_our_words_about_what_else_was_asked_for_go_out_after_a_models(need: Intent, language: str) -> None:
    asked = Segment(
        text=shall_i_go_on([need], language),
        source=Source.TEMPLATE,
        rests_on="next.shall_i",
        kind=SegmentKind.QUESTION,
    )
    noted = Segment(text=noted_for_later([need], language), source=Source.TEMPLATE, rests_on="next.noted")
    for segment in (asked, noted):
        draft = Draft(language=language, segments=(segment,), author=Author.MODEL)
        made = check(draft, evidence=None, articles=[], actions=[], customer_id="", now=NOW, readers=readers())
        assert made.failed == ()
