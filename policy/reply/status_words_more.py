"""The words for a status in eleven further languages, in six scripts; of five of them only a model's words are read.

Data alone, by stems where a language inflects; scripts without spaces have no edges of words to go by.
"""

SPACED = {
    "delivered": (
        r"bezorgd|afgeleverd|geleverd|doręczon\w*|dostarczon\w*|(?<!\w)доставлен\w*|levererad\w*"
        r"|levererades|utlämnad\w*|teslim edil(?:di|miş)\w*|تم (?:ال)?(?:تسليم|توصيل)\w*|سلمت|وصلت"
    ),
    "shipped": (
        r"verzonden|verstuurd|wysłan\w*|nadan[aoey]|отправлен\w*|відправлен\w*|надісла\w+|skickad\w*"
        r"|skickades|avsänd\w*|gönderil(?:di|miş)\w*|kargoya veril(?:di|miş)\w*"
        r"|تم (?:ال)?(?:شحن|إرسال)\w*|شحنت"
    ),
    "in_transit": r"onderweg|w drodze|в пути|у дорозі|på väg|yolda|في الطريق",
    "out_for_delivery": r"in bezorging|w doręczeniu|у курьера|передан\w* курьеру|ute för leverans|dağıtımda|مع المندوب",
    "processing": (
        r"in behandeling|wordt verwerkt|w (?:realizacji|przygotowaniu)|обрабатыва\w+|в обработке"
        r"|обробля\w+|behandlas|bearbetas|hazırlanıyor|işleniyor|قيد (?:المعالجة|التجهيز|التنفيذ)"
    ),
    "cancelled": (
        r"geannuleerd|opgezegd|anulowan(?!i[aeu])\w*|отменен\w*|отменён\w*|скасован\w*|avbruten|avbeställd\w*"
        r"|uppsagd\w*|iptal edil(?:di|miş)\w*|ألغي\w*|ملغي\w*|ملغى|تم (?:ال)?إلغاء\w*"
    ),
    "refunded": (
        r"terugbetaald|zwrócon\w*|возвращен\w*|возвращён\w*|возмещ[её]н\w*|повернен\w*|återbetalad\w*"
        r"|återbetalt\w*|iade edil(?:di|miş)\w*|تم (?:ال)?(?:رد|استرداد|إرجاع)\w*"
    ),
    "returned": r"teruggestuurd|geretourneerd|odesłan\w*|вернулся отправителю|satıcıya geri döndü",
    "trialing": r"in de proefperiode|w okresie próbnym|в пробном периоде|deneme süresinde",
    "past_due": r"achterstallig|po terminie płatności|просрочен\w*|ödemesi gecikmiş",
    "failed": r"mislukt|nieudan\w+|başarısız",
    "processed": r"klaargemaakt|przygotowan[aeyo]|подготовлен\w*|hazırlandı",
    "packed": r"ingepakt|spakowan\w*|упакован\w*|paketlen(?:di|miş)",
    "label_created": r"label afgedrukt|etykieta wydrukowana|этикетка напечатана|etiket yazdırıldı",
    "picked_up": (
        r"opgehaald door de vervoerder|odebran\w+ przez przewoźnika|принят перевозчиком"
        r"|kargo firması tarafından alındı"
    ),
    "delivery_attempted": r"bezorgpoging(?: gedaan)?|próba doręczenia|попытка доставки|teslimat denendi",
    "exception": r"opgehouden|zatrzyman[aeyo]|задержан\w*|alıkonuldu",
    "lost": (
        r"verloren|kwijt|zagubion\w*|zaginę\w+|утерян\w*|потерян\w*|втрачен\w*|förlorad\w*|kayboldu|kayıp"
        r"|مفقود\w*|فقدت"
    ),
    "paused": r"gepauzeerd|wstrzyman\w*|приостановлен\w*|pausad\w*|duraklatıl\w+|متوقف\w*",
    "active": r"actief|aktywn\w*|активн\w*|aktif|نشط\w*|فعال\w*",
}
UNSPACED = {
    "delivered": (
        r"配達(?:済|完了|されました|いたしました)|お届け(?:済|しました|いたしました)"
        r"|(?:已|经)(?:送达|签收|妥投)|배송(?:이)? ?완료|배달(?:되었|됐|완료)|डिलीवर (?:हो|कर)"
        r"|पहुँच(?:ा दिया|ाया| गया| चुका)"
    ),
    "shipped": (
        r"発送(?:済|しました|いたしました|されました)|出荷(?:済|しました|されました)|已(?:发货|寄出|发出)"
        r"|발송(?:됨|되었|됐|완료|했)|출고(?:되었|됐|완료)|भेज(?: दिया|ा गया| दी)"
    ),
    "in_transit": r"輸送中|配送中|运输(?:途)?中|在途|在路上|배송 ?중|운송 ?중|रास्ते में",
    "out_for_delivery": r"持ち出し中|派送中|派件中|배달 ?중|डिलीवरी के लिए निकल",
    "processing": r"準備中|処理中|处理中|备货中|准备中|준비 ?중|처리 ?중|तैयार (?:हो|किया)|संसाधित",
    "cancelled": (
        r"キャンセル(?:済|されました|しました|いたしました)|取り消(?:されました|しました)"
        r"|解約(?:済|されました|しました)|已(?:经)?取消|취소(?:됨|되었|됐|했|완료)|रद्द (?:हो|कर|किया)"
    ),
    "refunded": (
        r"返金(?:済|されました|しました|いたしました)|已(?:经)?(?:部分)?退款|已退还|환불(?:됨|되었|됐|했|완료)"
        r"|वापस (?:कर|किया|हो)|रिफंड (?:हो|कर|किया)"
    ),
    "returned": r"返送済|已(?:经)?退回",
    "trialing": r"試用期間中|试用期内",
    "past_due": r"支払い遅延|付款逾期",
    "failed": r"失敗|失败",
    "processed": r"準備完了|已(?:经)?备货",
    "packed": r"梱包済|已(?:经)?打包",
    "label_created": r"送り状発行済|面单已打印",
    "picked_up": r"集荷済|已(?:经)?揽收",
    "delivery_attempted": r"持ち戻り|已(?:经)?尝试投递",
    "exception": r"輸送停滞|运输受阻",
    "lost": r"紛失|丢失|遗失|분실|खो गया",
    "paused": r"一時停止中|已暂停|일시 ?정지|रोक(?:ा गया| दी)",
    "active": r"有効です|ご利用中|(?<!未)生效中|활성|सक्रिय",
}
NEGATION_BEFORE = r"niet|geen|nooit|nie|nigdy|не|нет|ни|немає|inte|ej|aldrig|لم|لا|لن|ليس\w*|غير|نہیں"
NEGATION_BEFORE_UNSPACED = r"没有|没|未|尚未|不|無|नहीं|안 "
NEGATION_AFTER = (  # the verb comes last, and what denies it behind it
    r"ません|ていない|されていな|ない|지 ?않|못했|नहीं|(?<!\w)değil(?!\w)"
    r"|\w{3,}m[ae]d[ıi](?:[kmn]|n?[ıi]z|l[ae]r)?(?!\w)|\w+m[ae]mi[şs]\w*|\w{2,}m[ıi]yor\w*"
)
