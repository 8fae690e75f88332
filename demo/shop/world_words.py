"""Raw material of the demo world: invented people, goods, plans, carriers and places.

Only words; the generator decides who gets what. Mail addresses use domains reserved for examples.
"""

MARKET_PEOPLE = (
    ("Zoë Müller", "zoe.mueller"), ("Łukasz Kowalczyk", "lukasz.kowalczyk"), ("María Fernández", "maria.fernandez"),
    ("Aoife O'Sullivan", "aoife.osullivan"), ("Søren Kjær", "soren.kjaer"), ("Chloé Lefèvre", "chloe.lefevre"),
    ("Giulia Bianchi", "giulia.bianchi"), ("Олена Шевченко", "olena.shevchenko"), ("Anke de Vries", "anke.devries"),
    ("Þóra Jónsdóttir", "thora.jonsdottir"), ("Ángel Ruiz Castaño", "angel.ruiz"), ("Eleni Papadopoulou", "eleni.p"),
    ("João Pereira", "joao.pereira"), ("Ilse Baumgartner", "ilse.baumgartner"), ("Çağla Yılmaz", "cagla.yilmaz"),
    ("Noémie Girard", "noemie.girard"), ("Petr Dvořák", "petr.dvorak"), ("Ioana Ionescu", "ioana.ionescu"),
    ("Amina El-Sayed", "amina.elsayed"), ("Mikael Virtanen", "mikael.virtanen"), ("Rasa Petrauskaitė", "rasa.p"),
    ("Zsófia Nagy", "zsofia.nagy"), ("Henrik Åkesson", "henrik.akesson"), ("Siobhán Byrne", "siobhan.byrne"),
    ("Jamal Washington", "jamal.washington"), ("Emily Carter", "emily.carter"), ("Nguyễn Thị Lan", "lan.nguyen"),
    ("Carlos Ramírez", "carlos.ramirez"), ("佐藤 美咲", "misaki.sato"), ("Priya Raghunathan", "priya.raghunathan"),
)  # fmt: skip

SAAS_PEOPLE = (
    ("Grace Holloway", "grace.holloway"), ("Diego Marchetti", "diego.marchetti"), ("王 小明", "xiaoming.wang"),
    ("Fatoumata Diallo", "fatoumata.diallo"), ("Oliver Braithwaite", "oliver.b"), ("김서연", "seoyeon.kim"),
    ("Tomás Ó Briain", "tomas.obriain"), ("Leila Haddad", "leila.haddad"), ("Marcus Lindqvist", "marcus.lindqvist"),
    ("Ananya Iyer", "ananya.iyer"), ("Samuel Adeyemi", "samuel.adeyemi"), ("Rebecca Stone", "rebecca.stone"),
    ("Jürgen Weiß", "juergen.weiss"), ("Valentina Rossi", "valentina.rossi"), ("Mateusz Zieliński", "mateusz.z"),
    ("Inés Navarro", "ines.navarro"), ("Björn Håkansson", "bjorn.hakansson"), ("Élodie Marchand", "elodie.marchand"),
)  # fmt: skip

SMALL_GOODS = (
    ("MUG-STONE", "Stoneware mug"), ("CASE-PHN", "Phone case"), ("SOCK-MER", "Merino socks"),
    ("CBL-USBC", "USB-C cable"),
    ("NOTE-A5", "Dotted notebook A5"), ("LAMP-CLIP", "Clip-on reading lamp"), ("TEA-DARJ", "Darjeeling tea tin"),
    ("POSTER-M", "Art print, medium"), ("BTL-STEEL", "Steel water bottle"), ("TOY-FOX", "Plush fox"),
)  # fmt: skip

MID_GOODS = (
    ("HEAD-ANC", "Noise-cancelling headphones"), ("KETTLE-GN", "Gooseneck kettle"), ("JKT-RAIN", "Rain jacket"),
    ("KEYB-MECH", "Mechanical keyboard"), ("LAMP-FLOOR", "Floor lamp"), ("BLEND-PRO", "Blender"),
)  # fmt: skip

LARGE_GOODS = (("BIKE-E1", "Electric city bike"), ("SOFA-2S", "Two-seat sofa"), ("CAM-FF", "Full-frame camera"))

CARRIERS = (("DHL", "JJD0"), ("GLS", "GL"), ("UPS", "1Z"), ("PostNL", "3S"), ("DPD", "0998"))

#: three stops of a parcel, by the currency of its order
ROUTES = {
    "EUR": (
        ("Poznań PL", "Leipzig DE", "Venlo NL"),
        ("Zaragoza ES", "Lyon FR", "Köln DE"),
        ("Graz AT", "Brno CZ", "Łódź PL"),
    ),
    "USD": (("Reno US", "Denver US", "Columbus US"), ("El Paso US", "Tulsa US", "Newark US")),
}

#: plan, price of one month in minor units
PLANS = (("Starter", 1900), ("Team", 4900), ("Business", 14900), ("Enterprise", 59900))

#: the forms that goods are sold in; what is not named here comes in COLOURS
COLOURS = ("sand", "slate", "moss")
FORMS = {
    "CASE-PHN": ("clear", "black", "blue"), "SOCK-MER": ("36-38", "39-41", "42-44"), "CBL-USBC": ("1 m", "2 m", "3 m"),
    "NOTE-A5": ("dotted", "lined", "blank"), "TEA-DARJ": ("100 g", "250 g", "500 g"), "JKT-RAIN": ("S", "M", "L"),
    "POSTER-M": ("oak frame", "black frame", "no frame"), "BTL-STEEL": ("0.5 l", "0.75 l", "1 l"),
    "KEYB-MECH": ("linear", "tactile", "clicky"), "BIKE-E1": ("frame S", "frame M", "frame L"),
    "CAM-FF": ("body", "with 35 mm lens", "with zoom lens"),
}  # fmt: skip
#: whole units of money that one piece costs today, by the list that it stands in
LIST_PRICES = ((SMALL_GOODS, 9, 45), (MID_GOODS, 60, 380), (LARGE_GOODS, 900, 2300))
#: what nobody takes back
NOT_RETURNABLE = ("TEA-DARJ",)

STREETS = ("Linden Street", "Harbour Road", "Mill Lane", "Station Road", "Orchard Way", "Castle Hill", "River Walk")
TOWNS = {"EUR": ("50667 Köln DE", "69002 Lyon FR", "50003 Zaragoza ES", "8010 Graz AT"), "USD": ("Columbus OH 43004 US",
         "Tulsa OK 74103 US", "Reno NV 89501 US")}  # fmt: skip
CARD_BRANDS = ("Visa", "Mastercard")
