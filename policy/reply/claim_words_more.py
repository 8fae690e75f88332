"""How six more languages say that something was done or will be done, for the fixed words that are ours to check.

Data alone, by stems where a language inflects; what a model writes in these languages a detector has to read as well.
"""

LANGUAGES = frozenset({"nl", "pl", "ru", "tr", "zh", "ja"})
_FEW = r"(?:[^\s.!?:]+ ){0,3}?"  # up to three words between
_REST = r"(?:[^.!?\n]|\.(?=\d)){0,80}?"  # of the same sentence
_CLAUSE = r"(?:[^.!?:\n]|\.(?=\d)){0,80}?"
_PART = r"[^.!?。\n]{0,16}?"  # the same where words are not spaced

_NL_DONE = (
    r"(?:terugbetaald|terugge(?:stort|boekt)|geannuleerd|opgezegd|uitgevoerd|verwerkt|gecrediteerd|bijgeschreven"
    r"|overgemaakt|goedgekeurd|gewijzigd|aangepast|afgehandeld|voltooid|in gang gezet|gestart|geregeld|ingediend"
    r"|in orde gemaakt|vervangen)"
)
_NL_DO = (
    r"(?:terugbetalen|terugstorten|annuleren|opzeggen|uitvoeren|verwerken|crediteren|overmaken|goedkeuren|wijzigen"
    r"|aanpassen|afhandelen|regelen|vervangen)"
)
_PL_DONE = r"(?:zwróc|anulowa|odwoła|wykona|zrealizowa|przetworz|zatwierdz|zmieni|zakończ|zleco|uruchomi|przela|wypłac)"
_PL_DONE_WHOLE = (
    r"(?:zwrócon|anulowan|odwołan|wykonan|zrealizowan|przetworzon|zatwierdzon|zmienion|zakończon|zlecon|uruchomion"
    r"|przelan|wypłacon|rozpoczęt|przekazan|zaktualizowan|wymienion)(?!i[ea])"  # "anulowania" is the noun
)
_PL_WILL = (
    r"(?:zwróc|zwraca|anuluj|odwoł|wykon|zrealizuj|przetworz|zatwierdz|zmieni|zlec|przel|wypłac|uruchomi|wyśl|załatwi)"
    r"(?:ę|imy|emy|amy|my)"
)
_RU_DONE = (
    r"(?:возвращ[её]н|возмещ[её]н|отмен[её]н|аннулирован|выполнен|оформлен|обработан|одобрен|измен[её]н|обновл[её]н"
    r"|заверш[её]н|запущен|зачислен|перевед[её]н|произвед[её]н|исполнен|осуществл[её]н|закрыт|замен[её]н)[аоы]?(?!\w)"
)
_RU_DID = (
    r"(?:верну|возмести|отмени|аннулирова|выполни|оформи|обработа|одобри|измени|обнови|заверши|запусти|зачисли|перев[её]"
    r"|произв[её]|замени|сдела)(?:л|ла|ли)"
)
_RU_WILL = (
    r"(?:верн(?:у|[её]м)|возме(?:щу|стим)|отмен(?:ю|им|яю|яем)|оформ(?:лю|им|ляю|ляем)|обработа(?:ю|ем)|одобр(?:ю|им)"
    r"|измен(?:ю|им)|зачисл(?:ю|им)|перевед(?:у|[её]м)|замен(?:ю|им)|запу(?:щу|стим)|возвраща(?:ю|ем)|сдела(?:ю|ем))"
)
_TR_PAST = (
    r"(?:tamamlandı|başlatıldı|iletildi|yapıldı|gerçekleş(?:ti|tirildi)|işleme alındı|onaylandı|değiştirildi"
    r"|güncellendi|iptal edildi|iade edildi|yatırıldı|feshedildi|sonlandırıldı|halledildi|çözüldü|aktarıldı)"
)
_TR_FUTURE = (
    r"(?:(?:iade|iptal) edilecek|yapılacak|yatırılacak|yatacak|iletilecek|gönderilecek|başlatılacak|gerçekleştirilecek"
    r"|tamamlanacak|işleme alınacak|onaylanacak|aktarılacak|geçecek)"
)
_TR_I_DO = (
    r"(?:(?:iade|iptal) e(?:ttim|ttik|diyoru[mz]|deceğim|deceğiz)"
    r"|(?:tamamla|başlat|onayla|değiştir|güncelle|gerçekleştir|hallet|yap|yatır|aktar|yönlendir)"
    r"(?:[dt][ıiuü][mk]|[ıiuü]yoru[mz]|y?[ae]ca[ğk]ı[mz]|y?[ae]ceği[mz]))"
)
_ZH_DO = (
    r"(?:退款|退还|返还|退订|退给|退回|取消|撤销|完成|处理|办理|办好|提交|批准|更改|修改|变更|更新|启动|发起"
    r"|执行|安排|补发|寄出新|关闭|终止|恢复|打款|到账|转账|解锁)"
)
_JA_DO = (
    r"(?:返金|キャンセル|解約|取り?消し?|手続き?|処理|変更|交換|承認|送信|開始|完了|実行|手配|返品|振り?込み?|送付"
    r"|再送|対応)"
)

PROMISES = (
    rf"(?<!\w)(?:terugbetaling|annulering|opzegging|restitutie|tegoed){_REST}(?<!\w)"
    r"(?:uitgevoerd|gestuurd|op het punt|onderweg|verwerkt|goedgekeurd|voltooid|rond|gedaan|gestort)(?!\w)",
    rf"(?<!\w)(?:heb|hebben|hebt|heeft) {_CLAUSE}(?<!\w){_NL_DONE}(?!\w)",
    rf"(?<!\w)(?:zal|zullen|wordt|(?<!kunnen )(?<!kan )worden|ga|gaan) {_CLAUSE}(?<!\w)(?:{_NL_DO}|{_NL_DONE})(?!\w)",
    r"(?<!\w)(?:ik|wij|we) (?:betaal|betalen|stort|storten|annuleer|annuleren|verwerk|verwerken|regel|regelen|beloof"
    r"|beloven|garandeer|garanderen|sturen|stuur)(?!\w)",
    r"(?<!\w)(?:u|je) (?:krijgt|ontvangt|hebt) [^.!?]{0,40}?(?:geld|terugbetaling|bedrag)(?!\w)",
    rf"(?<!\w)(?:zwrot|anulowanie|rezygnacja){_REST}(?<!\w)(?:zaraz trafi|w drodze|w toku|{_PL_DONE_WHOLE}\w+)(?!\w)",
    rf"(?<!\w){_PL_DONE}(?:i?łem|i?łam|i?liśmy|iłyśmy)(?!\w)",
    rf"(?<!\w){_PL_WILL}(?!\w)",
    rf"(?<!\w)(?:zostanie|zostaną|będzie|będą) {_FEW}{_PL_DONE_WHOLE}\w+",
    r"(?<!\w)(?:otrzyma|dostanie|odzyska)(?:sz|cie)? [^.!?]{0,40}?(?:zwrot|pieniądze|środki|kwot)",
    r"(?<!\w)(?:obiecuję|gwarantuję|gwarantujemy)(?!\w)",
    rf"(?<!\w)(?:возврат|отмен[ау]|компенсаци[яю]){_REST}(?<!\w)(?:отправлен|в пути|вот-вот|поступит|{_RU_DONE})",
    rf"(?<!\w)(?<!чтобы я ){_RU_DID}(?!\w)",
    rf"(?<!\w){_RU_WILL}(?!\w)",
    rf"(?<!\w)(?:будет|будут) {_FEW}{_RU_DONE}",
    r"(?<!\w)получите [^.!?]{0,40}?(?:деньги|возврат|средства|компенсаци)",
    r"(?<!\w)(?:обещаю|гарантирую|гарантируем)(?!\w)",
    rf"(?<!\w){_TR_FUTURE}(?!\w)",
    rf"(?<!\w){_TR_I_DO}(?!\w)",
    rf"(?<!\w)(?:para|iade|ücret)\w* {_REST}(?<!\w)(?:yolda|alacaksınız)(?!\w)",
    r"(?<!\w)(?:söz veriyoru[mz]|garanti ediyoru[mz])(?!\w)",
    rf"(?:我们?|系统|本店)(?:这就|马上|正在|现在|立即|会|将|来|已){{1,2}}{_PART}{_ZH_DO}",
    rf"(?:(?:即将|马上|正在|将会?)(?:为您|帮您|给您)?|会(?:为您|帮您|给您)){_ZH_DO}",
    rf"您(?:会|将|很快){_PART}(?:收到|拿到){_PART}(?:退款|钱|款项)",
    r"(?:退款|款项|钱)(?:正在|已在|在)?(?:路上|途中)|我(?:们)?(?:保证|承诺)",
    rf"{_JA_DO}(?:を|は|が)?(?:いた)?(?:します|されます|しておきます|中です)",
    r"(?:返金|お金|代金)(?:は|が|を)[^。\n]{0,12}?(?:届きます|お受け取り)|(?:お約束|保証)(?:します|いたします)",
)
REPORTS = (
    rf"(?<!\w)(?:is|zijn|werd|werden|was|waren) {_CLAUSE}(?<!\w){_NL_DONE}(?!\w)",
    rf"(?<!\w){_PL_DONE_WHOLE}[oayei](?!\w)",
    rf"(?<!\w){_RU_DONE}(?!\w)",
    rf"(?<!\w){_TR_PAST}(?!\w)",
    rf"已(?:经)?(?:为您|帮您|给您|成功|全额|部分|全部|在[^。,;\n]{{0,10}}?中?){{0,2}}{_ZH_DO}",
    rf"{_ZH_DO}(?:好了|成功|完毕|了)",
    rf"{_JA_DO}(?:を|は|が)?(?:すでに|既に|正常に)?(?:済み|(?:いた)?しました|されました|(?:し|され)ている?ま|(?:し|され)ていました)",
)
