"""How languages say that something was done or will be done: the sentences that only the ledger may speak.

Data alone: a promise is of the speaker, of the future or of a refund as such; a report says that something was done.
"""

import re

from policy.reply.claim_words_more import LANGUAGES as MORE_LANGUAGES
from policy.reply.claim_words_more import PROMISES, REPORTS

LANGUAGES = frozenset({"en", "es", "de", "fr", "pt", "it"})  # whose words are known well enough for a model's
OUR_LANGUAGES = LANGUAGES | MORE_LANGUAGES  # whose words are known well enough for fixed words of ours
_FEW = r"(?:[^\s.!?:]+ ){0,3}?"  # up to three words between

_EN_DONE = (
    r"(?:refunded|cancell?ed|credited|reimbursed|reversed|processed|issued|submitted|initiated|arranged|approved"
    r"|returned|changed|updated|closed|deleted|replaced|completed|started|executed|triggered|(?:paid|given) back"
    r"|sent (?:you )?(?:the|your|a))"
)
_EN_DO = (
    r"(?:refund|cancel|credit|reimburse|reverse|process|issue|submit|initiate|arrange|approve|return|change|update|close"
    r"|delete|replace|complete|execute|trigger|pay back|get your money back"
    r"|send (?:you )?(?:a|the) (?:refund|replacement))"
)
_ES_DONE = (
    r"(?:reembolsad|cancelad|anulad|devuelt|abonad|procesad|emitid|tramitad|gestionad|aprobad|cambiad|actualizad|iniciad"
    r"|completad|realizad)[oa]s?"
)
_ES_DO = r"(?:reembols|cancel|anul|devolv|abon|proces|emit|tramit|gestion|aprob|cambi|actualiz|realiz)"
_DE_DONE = (
    r"(?:(?:zurück|rück)?erstattet|storniert|gekündigt|gutgeschrieben|zurückgezahlt|überwiesen|bearbeitet|veranlasst"
    r"|eingeleitet|ausgeführt|geändert|genehmigt|beauftragt|rückgängig gemacht|erledigt)"
)
_DE_DO = (
    r"(?:(?:zurück|rück)?erstatten|stornieren|kündigen|gutschreiben|zurückzahlen|überweisen|bearbeiten|veranlassen"
    r"|einleiten|ausführen|ändern|genehmigen)"
)
_FR_DONE = (
    r"(?:remboursé|annulé|résilié|crédité|traité|émis|effectué|validé|approuvé|modifié|lancé|restitué|reversé)e?s?"
)
_FR_DO = r"(?:rembours|annul|résili|crédit|trait|effectu|valid|approuv|modifi|restitu|revers)er"
_PT_DONE = (
    r"(?:reembolsad|cancelad|estornad|devolvid|creditad|processad|emitid|aprovad|alterad|atualizad|iniciad|concluíd"
    r"|realizad)[oa]s?"
)
_PT_DO = r"(?:reembols|cancel|estorn|devolv|credit|process|emit|aprov|alter|atualiz|realiz)"
_IT_DONE = (
    r"(?:rimborsat|annullat|cancellat|disdett|accreditat|elaborat|emess|effettuat|approvat|modificat|aggiornat|avviat"
    r"|completat|eseguit)[oaei]"
)
_IT_DO = r"(?:rimborsare|annullare|cancellare|disdire|accreditare|elaborare|effettuare|approvare|modificare|eseguire)"

# An action spoken of as a thing, and what became of it: "the refund of 12.00 EUR has been made"
_REST = r"(?:[^.!?\n]|\.(?=\d)){0,80}?"
_OUTCOMES = (
    (
        r"refund|cancellation|credit|reversal|reimbursement|replacement",
        r"made|sent|done|complete\w*|processed|issued|approved|through|on (?:its|the) way|executed|carried out|settled"
        r"|under way|about to be",
    ),
    (
        r"reembolso|cancelación|devolución|abono",
        r"hech[oa]|realizad[oa]|enviad[oa]|efectuad[oa]|completad[oa]|procesad[oa]|aprobad[oa]|en camino|en curso"
        r"|a punto de",
    ),
    (
        r"(?:rück)?erstattung|rückzahlung|kündigung|stornierung|gutschrift",
        r"erfolgt|ging|geht (?:gleich|jetzt|sofort)|gesendet|ausgeführt|veranlasst|abgeschlossen|durch|unterwegs"
        r"|angewiesen|gebucht|überwiesen",
    ),
    (
        r"remboursement|annulation|résiliation",
        r"faite?|effectuée?|envoyée?|traitée?|validée?|en cours|en route|sur le point",
    ),
    (
        r"reembolso|cancelamento|estorno|devolução",
        r"feit[oa]|enviad[oa]|seguiu|concluíd[oa]|processad[oa]|aprovad[oa]|a caminho|prestes a",
    ),
    (
        r"rimborso|disdetta|annullamento|cancellazione|storno",
        r"fatt[oa]|effettuat[oa]|inviat[oa]|eseguit[oa]|completat[oa]|elaborat[oa]|approvat[oa]|in corso|per essere",
    ),
)

PROMISE = re.compile(
    "|".join(
        (
            *(rf"(?<!\w)(?:{noun})(?:s|en)?(?!\w){_REST}(?<!\w)(?:{end})(?!\w)" for noun, end in _OUTCOMES),
            rf"(?<!\w)(?:i|we)(?:'ve|'d| have| had)? {_FEW}{_EN_DONE}",
            rf"(?<!\w)(?:i|we)(?:'ll| will| shall|'m| am|'re| are) {_FEW}(?:{_EN_DO}|refunding|cancell?ing|processing)",
            r"(?<!\w)(?:i|we) (?:promise|guarantee|assure)(?!\w)",
            rf"(?<!\w)(?:will|'ll|shall|going to|is|are) {_FEW}(?:be|being) {_FEW}{_EN_DONE}",
            r"(?<!\w)(?:refund|money|credit|replacement)s? (?:is|are) (?:now )?(?:on (?:its|the) way|coming)",
            r"(?<!\w)you(?:'ll| will) {0,1}(?:get|receive|have) (?:your|the|a) (?:refund|money|credit)",
            r"(?<!\w)(?:consider it done|all done|it's done|it is done|done!)",
            rf"(?<!\w)(?:he|hemos) {_FEW}{_ES_DONE}",
            rf"(?<!\w){_ES_DO}(?:é|amos|imos|aré|eré|iré|aremos|eremos|iremos|ará|erá|irá|arán)(?!\w)",
            rf"(?<!\w)(?:voy|vamos) a {_FEW}{_ES_DO}(?:ar|er|ir)(?:le|lo|la|te)?(?!\w)",
            rf"(?<!\w)ser[áa]n? {_FEW}{_ES_DONE}",
            r"(?<!\w)recibir[áa]s? (?:el|su|tu|un) (?:reembolso|dinero|abono)",
            rf"(?<!\w)(?:habe|haben|hab) {_REST}(?<!\w){_DE_DONE}",
            rf"(?<!\w)(?:werde|werden|wird) {_REST}(?<!\w)(?:{_DE_DO}|{_DE_DONE})(?! worden)",
            r"(?<!\w)(?:ich|wir) (?:erstatte|storniere|kündige|überweise|veranlasse|gutschreibe|ändere)n?(?!\w)",
            r"(?<!\w)(?:sie|du) (?:erhalten|bekommen|erhältst|bekommst) [^.!?]{0,40}?"
            r"(?:geld|erstattung|gutschrift)(?!\w)",
            rf"(?<!\w)(?:j'ai|nous avons|on a) {_FEW}{_FR_DONE}",
            rf"(?<!\w)(?:vais|allons|va) {_FEW}{_FR_DO}(?!\w)",
            rf"(?<!\w){_FR_DO}(?:ai|ons|a|ont)(?!\w)",
            rf"(?<!\w)ser(?:a|ai|ez|ont) {_FEW}{_FR_DONE}",
            r"(?<!\w)(?:recevrez|recevras) (?:votre|ton|le|un) (?:remboursement|argent|avoir)",
            rf"(?<!\w){_PT_DO}(?:ei|i|amos|emos|imos|arei|erei|irei|aremos|eremos|iremos|ará|erá|irá)(?!\w)",
            rf"(?<!\w)(?:vou|vamos|irei|iremos) {_FEW}{_PT_DO}(?:ar|er|ir)(?!\w)",
            rf"(?<!\w)ser(?:á|ão) {_FEW}{_PT_DONE}",
            r"(?<!\w)(?:receberá|vai receber) (?:o|seu|o seu|um) (?:reembolso|dinheiro|crédito|estorno)",
            rf"(?<!\w)(?:ho|abbiamo) {_FEW}{_IT_DONE}",
            rf"(?<!\w)(?:sto|stiamo) per {_FEW}{_IT_DO}(?!\w)",
            r"(?<!\w)(?:rimborser|annuller|canceller|disdir|accrediter|effettuer|modificher|eseguir)(?:ò|emo|à|anno)(?!\w)",
            rf"(?<!\w)(?:verrà|verranno|sarà|saranno) {_FEW}{_IT_DONE}",
            r"(?<!\w)ricever(?:à|ai) (?:il|un) (?:rimborso|denaro|accredito)",
            *PROMISES,
        )
    ),
    re.IGNORECASE,
)
REPORT = re.compile(
    "|".join(
        (
            rf"(?<!\w)(?:has|have|had|was|were|is|are|been|'s|got) {_FEW}{_EN_DONE}",
            r"(?<!\w)(?:refund|cancellation|credit) (?:is|was|has)(?: been)?(?: now)? "
            r"(?:complete|done|through|successful)\w*",
            rf"(?<!\w)(?:ha|han|fue|fueron|está|están|queda|quedan|quedó) {_FEW}{_ES_DONE}",
            rf"(?<!\w)se (?:(?:le|les|te|lo|la) )?{_ES_DO}(?:ó|ió|aron|ieron)(?!\w)",
            rf"(?<!\w)(?:wurde|wurden|worden|ist|sind|war|waren) {_REST}(?<!\w){_DE_DONE}",
            rf"(?<!\w)(?:est|sont|était|été|fut|a|ont) {_FEW}{_FR_DONE}",
            rf"(?<!\w)(?:foi|foram|está|estão|é|são|ficou) {_FEW}{_PT_DONE}",
            rf"(?<!\w)(?:è|sono|stat[oaei]|risulta) {_FEW}{_IT_DONE}",
            *REPORTS,
        )
    ),
    re.IGNORECASE,
)
