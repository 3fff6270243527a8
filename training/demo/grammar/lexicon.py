"""The words of the demo grammar in tables; inflection.py makes their forms."""

# German, gender (m, f, n; mw: a masculine noun that takes -n or -en, as in its plural), plural (- if none),
# English and, if irregular, its plural. "_" stands for a space.
NOUNS = {
    "person": """
mann m männer man men; frau f frauen woman women; kind n kinder child children; lehrer m lehrer teacher
freund m freunde friend; freundin f freundinnen friend; nachbar mw nachbarn neighbor; nachbarin f nachbarinnen neighbor
mutter f mütter mother; vater m väter father; bruder m brüder brother; schwester f schwestern sister
tochter f töchter daughter; sohn m söhne son; großmutter f großmütter grandmother; großvater m großväter grandfather
arzt m ärzte doctor; ärztin f ärztinnen doctor; lehrerin f lehrerinnen teacher; student mw studenten student
studentin f studentinnen student; schüler m schüler pupil; kollege mw kollegen colleague
kollegin f kolleginnen colleague; chef m chefs boss; chefin f chefinnen boss; polizist mw polizisten policeman policemen
verkäuferin f verkäuferinnen saleswoman saleswomen; bäcker m bäcker baker; bauer mw bauern farmer
künstler m künstler artist; künstlerin f künstlerinnen artist; sänger m sänger singer; sängerin f sängerinnen singer
journalist mw journalisten journalist; minister m minister minister; präsident mw präsidenten president
richter m richter judge; richterin f richterinnen judge; anwalt m anwälte lawyer; anwältin f anwältinnen lawyer
ingenieur m ingenieure engineer; fahrer m fahrer driver; gast m gäste guest; kunde mw kunden customer
kundin f kundinnen customer; tourist mw touristen tourist; junge mw jungen boy; onkel m onkel uncle; tante f tanten aunt
professor m professoren professor; schauspieler m schauspieler actor; schauspielerin f schauspielerinnen actress
koch m köche cook; köchin f köchinnen cook; spieler m spieler player; trainer m trainer coach
soldat mw soldaten soldier
dieb m diebe thief thieves; könig m könige king; königin f königinnen queen; bürgermeister m bürgermeister mayor
dichter m dichter poet; maler m maler painter; gärtner m gärtner gardener; pilot mw piloten pilot
zeuge mw zeugen witness; mechaniker m mechaniker mechanic; direktor m direktoren director
""",
    "animal": """
hund m hunde dog; katze f katzen cat; pferd n pferde horse; vogel m vögel bird; kuh f kühe cow; maus f mäuse mouse mice
schaf n schafe sheep sheep; hase mw hasen hare; affe mw affen monkey; bär mw bären bear; löwe mw löwen lion
ente f enten duck; huhn n hühner chicken; ziege f ziegen goat; esel m esel donkey; wolf m wölfe wolf wolves
""",
    "thing": """
tisch m tische table; stuhl m stühle chair; lampe f lampen lamp; schlüssel m schlüssel key; uhr f uhren watch
tasche f taschen bag; koffer m koffer suitcase; bild n bilder picture; geschenk n geschenke present; ball m bälle ball
computer m computer computer; telefon n telefone telephone; messer n messer knife knives; teller m teller plate
glas n gläser glass; flasche f flaschen bottle; spiegel m spiegel mirror; teppich m teppiche carpet; bett n betten bed
blume f blumen flower; kamera f kameras camera; brille f brillen pair_of_glasses pairs_of_glasses; ring m ringe ring
kerze f kerzen candle; karte f karten map; gitarre f gitarren guitar; regenschirm m regenschirme umbrella
schachtel f schachteln box; decke f decken blanket; werkzeug n werkzeuge tool; eimer m eimer bucket; korb m körbe basket
""",
    "openable": """
tür f türen door; fenster n fenster window; koffer m koffer suitcase; schrank m schränke cupboard; tor n tore gate
schublade f schubladen drawer; flasche f flaschen bottle; tasche f taschen bag; kiste f kisten box
""",
    "text": """
buch n bücher book; brief m briefe letter; zeitung f zeitungen newspaper; roman m romane novel
artikel m artikel article
gedicht n gedichte poem; bericht m berichte report; nachricht f nachrichten message; geschichte f geschichten story
vertrag m verträge contract; rechnung f rechnungen bill; zeitschrift f zeitschriften magazine; rede f reden speech
""",
    "clothes": """
hemd n hemden shirt; kleid n kleider dress; mantel m mäntel coat; jacke f jacken jacket; hut m hüte hat
rock m röcke skirt; pullover m pullover sweater; anzug m anzüge suit; mütze f mützen cap; schal m schals scarf scarves
""",
    "vehicle": """
auto n autos car; fahrrad n fahrräder bicycle; zug m züge train; bus m busse bus; schiff n schiffe ship
boot n boote boat
lastwagen m lastwagen truck; motorrad n motorräder motorcycle; traktor m traktoren tractor
flugzeug n flugzeuge airplane
""",
    "food": """
brot n - bread; apfel m äpfel apple; suppe f suppen soup; kuchen m kuchen cake; ei n eier egg; käse m - cheese
fisch m - fish; fleisch n - meat; kartoffel f kartoffeln potato potatoes; tomate f tomaten tomato tomatoes
reis m - rice
birne f birnen pear; orange f orangen orange; salat m salate salad; pizza f pizzas pizza; nudel f nudeln noodle
banane f bananen banana; brötchen n brötchen roll; wurst f würste sausage; schokolade f - chocolate
zwiebel f zwiebeln onion
""",
    "drink": """
kaffee m - coffee; wasser n - water; milch f - milk; tee m - tea; bier n - beer; wein m - wine; saft m - juice
""",
    "building": """
haus n häuser house; wohnung f wohnungen apartment; brücke f brücken bridge; turm m türme tower; hütte f hütten hut
garage f garagen garage; mauer f mauern wall; kirche f kirchen church; halle f hallen hall; fabrik f fabriken factory
""",
    "abstract": """
problem n probleme problem; frage f fragen question; idee f ideen idea; plan m pläne plan; antwort f antworten answer
entscheidung f entscheidungen decision; fehler m fehler mistake; regel f regeln rule; wort n wörter word
lösung f lösungen solution; ergebnis n ergebnisse result; aufgabe f aufgaben task; grund m gründe reason
vorschlag m vorschläge proposal; gesetz n gesetze law; name mw namen name; sprache f sprachen language
""",
    "problem": """
problem n probleme problem; aufgabe f aufgaben task; rätsel n rätsel riddle; fall m fälle case
""",
    "event": """
konzert n konzerte concert; fest n feste festival; reise f reisen trip; hochzeit f hochzeiten wedding
prüfung f prüfungen exam; spiel n spiele game; sitzung f sitzungen meeting; ausstellung f ausstellungen exhibition
ausflug m ausflüge excursion; besuch m besuche visit; party f partys party; kurs m kurse course; film m filme movie
""",
    "room": """
küche f küchen kitchen; zimmer n zimmer room; keller m keller basement; büro n büros office; bad n bäder bathroom
wohnzimmer n wohnzimmer living_room; schlafzimmer n schlafzimmer bedroom
""",
}

# As in NOUNS, then the preposition for being there (with the dative) and for going there (with its case), each with
# its English.
PLACES = """
park m parks park in in in:a to; garten m gärten garden in in in:a into; stadt f städte city in in in:a to
schule f schulen school in at in:a to; bahnhof m bahnhöfe station an at zu:d to; markt m märkte market auf at auf:a to
küche f küchen kitchen in in in:a into; büro n büros office in in in:a to; wald m wälder forest in in in:a into
see m seen lake an at an:a to; strand m strände beach an on an:a to; dorf n dörfer village in in in:a to
museum n museen museum in at in:a to; theater n theater theater in at in:a to; kino n kinos cinema in at in:a to
restaurant n restaurants restaurant in at in:a to; hotel n hotels hotel in in zu:d to
krankenhaus n krankenhäuser hospital in in in:a to; flughafen m flughäfen airport an at zu:d to
universität f universitäten university an at zu:d to; bibliothek f bibliotheken library in in in:a to
straße f straßen street auf on auf:a into; fluss m flüsse river an by zu:d to; berg m berge mountain auf on auf:a onto
hafen m häfen harbor in in zu:d to; bank f banken bank in at zu:d to; kirche f kirchen church in in in:a to
insel f inseln island auf on auf:a to; laden m läden shop in in in:a into; fabrik f fabriken factory in in in:a to
bäckerei f bäckereien bakery in in zu:d to; apotheke f apotheken pharmacy in at zu:d to
wohnung f wohnungen apartment in in in:a into; keller m keller basement in in in:a into; zoo m zoos zoo in at in:a to
"""

# First parts | heads, each with its class: any first part goes with any head of its line; German writes one word.
COMPOUNDS = """
küchen kitchen, garten garden, büro office, hotel hotel, schul school, kinderzimmer nursery | \
tisch m tische table thing, stuhl m stühle chair thing, lampe f lampen lamp thing, tür f türen door openable, \
fenster n fenster window openable, schrank m schränke cupboard openable, schlüssel m schlüssel key thing
wein wine, blumen flower, käse cheese, möbel furniture, schuh shoe, spielzeug toy, obst fruit, fahrrad bicycle | \
laden m läden shop building, händler m händler dealer person, fabrik f fabriken factory building, \
verkäufer m verkäufer seller person, markt m märkte market building
musik music, kunst art, sport sports, tanz dance, deutsch german, mathematik math, geschichts history | \
lehrer m lehrer teacher person, lehrerin f lehrerinnen teacher person, student mw studenten student person, \
kurs m kurse course event, prüfung f prüfungen exam event, buch n bücher book text
dorf village, sommer summer, stadt city, familien family, jazz jazz, hafen harbor, studenten student | \
fest n feste festival event, konzert n konzerte concert event, zeitung f zeitungen newspaper text, \
ausflug m ausflüge excursion event
apfel apple, tomaten tomato, gemüse vegetable, kartoffel potato, käse cheese, fisch fish, zwiebel onion | \
kuchen m kuchen cake food, suppe f suppen soup food, salat m salate salad food, brötchen n brötchen roll food
winter winter, sommer summer, leder leather, kinder children's, arbeits work, herren men's | \
mantel m mäntel coat clothes, jacke f jacken jacket clothes, hut m hüte hat clothes, anzug m anzüge suit clothes
zeitungs newspaper, polizei police, liebes love, reise travel, unfall accident, jahres year's | \
bericht m berichte report text, artikel m artikel article text, roman m romane novel text
"""

# German, its comparative, English and, if irregular, its comparative; a form before a slash is the one with endings.
ADJECTIVES = {
    "person": """
alt älter old; jung jünger young; freundlich freundlicher friendly friendlier; klug klüger smart; nett netter nice
berühmt berühmter famous; müd/müde müder tired; krank kränker sick; glücklich glücklicher happy
traurig trauriger sad sadder
arm ärmer poor; reich reicher rich; groß größer tall; klein kleiner short; fleißig fleißiger diligent
streng strenger strict; stark stärker strong; höflich höflicher polite; neugierig neugieriger curious
mutig mutiger brave
""",
    "animal": """
klein kleiner small; groß größer big bigger; alt älter old; schwarz - black; weiß - white; braun - brown
schnell schneller fast; wild wilder wild; hungrig hungriger hungry; jung jünger young; dick dicker fat fatter
""",
    "thing": """
neu neuer new; alt älter old; groß größer big bigger; klein kleiner small; teur/teuer teurer expensive
billig billiger cheap; rot - red; schwarz - black; blau - blue; grün - green; schön schöner beautiful
schwer schwerer heavy
weiß - white; gelb - yellow; kaputt - broken; grau - gray; modern moderner modern; leicht leichter light; leer - empty
""",
    "food": """
frisch frischer fresh; süß süßer sweet; warm wärmer warm; kalt kälter cold; billig billiger cheap
gut besser good better
teur/teuer teurer expensive; gesund gesünder healthy
""",
    "abstract": """
wichtig wichtiger important; neu neuer new; schwierig schwieriger difficult; interessant interessanter interesting
gut besser good better; groß größer big bigger; klein kleiner small; einfach einfacher simple; alt älter old
schlecht schlechter bad worse; richtig - right; falsch - wrong; lang länger long; kurz kürzer short
seltsam seltsamer strange
""",
    "place": """
groß größer big bigger; klein kleiner small; neu neuer new; alt älter old; schön schöner beautiful; ruhig ruhiger quiet
modern moderner modern; berühmt berühmter famous; voll voller crowded; dunkl/dunkel dunkler dark; hell heller bright
""",
}
ADJECTIVE_CLASS = {"openable": "thing", "text": "abstract", "clothes": "thing", "vehicle": "thing", "drink": "food"}
ADJECTIVE_CLASS |= {"problem": "abstract", "building": "place", "event": "abstract", "room": "place"}

# German (irregular: infinitive/present/preterite/participle; "-" after a separable prefix; "*": perfect with "sein"),
# English (irregular: base/past[/participle]; then "+particle" or words that follow) and what the verb takes:
# t accusative, d dative, p:<preposition>:<case>, b both objects (person, thing), i nothing, g a direction, l a place;
# with "r" before it, a reflexive pronoun as well; then the classes of the object.
VERBS = """
kaufen | buy/bought | t thing food text clothes vehicle building
sehen/sieht/sah/gesehen | see/saw/seen | t person animal thing building vehicle
lesen/liest/las/gelesen | read/read | t text
schreiben/schreibt/schrieb/geschrieben | write/wrote/written | t text
essen/isst/aß/gegessen | eat/ate/eaten | t food
trinken/trinkt/trank/getrunken | drink/drank/drunk | t drink
suchen | look for | t thing person animal text room
finden/findet/fand/gefunden | find/found | t thing animal text abstract
besuchen | visit | t person event
kennen/kennt/kannte/gekannt | know/knew/known | t person text
an-rufen/ruft/rief/gerufen | call | t person
ein-laden/lädt/lud/geladen | invite | t person
ab-holen | pick +up | t person thing clothes
mit-bringen/bringt/brachte/gebracht | bring/brought +along | t food thing drink
auf-machen | open | t openable
zu-machen | close | t openable
öffnen | open | t openable
an-schauen | look at | t thing building text event
an-ziehen/zieht/zog/gezogen | put/put +on | t clothes
aus-ziehen/zieht/zog/gezogen | take/took/taken +off | t clothes
ab-sagen | call +off | t event
vor-bereiten/bereitet/bereitete/bereitet | prepare | t event food
weg-werfen/wirft/warf/geworfen | throw/threw/thrown +away | t thing text food clothes
zurück-geben/gibt/gab/gegeben | give/gave/given +back | t thing text
auf-räumen | tidy +up | t room
aus-leihen/leiht/lieh/geliehen | borrow | t text vehicle thing
verkaufen | sell/sold | t vehicle thing food building
bauen | build/built | t building
reparieren | repair | t vehicle thing
waschen/wäscht/wusch/gewaschen | wash | t vehicle clothes
lieben | love | t person animal
verstehen/versteht/verstand/verstanden | understand/understood | t abstract person text
vergessen/vergisst/vergaß/vergessen | forget/forgot/forgotten | t abstract person event
erklären | explain | t abstract
lösen | solve | t problem
diskutieren | discuss | t abstract
planen | plan | t event
organisieren | organize | t event
kochen | cook | t food
füttern | feed/fed | t animal
streicheln | pet | t animal
fangen/fängt/fing/gefangen | catch/caught | t animal
tragen/trägt/trug/getragen | carry | t thing animal
verlieren/verliert/verlor/verloren | lose/lost | t thing clothes text
stehlen/stiehlt/stahl/gestohlen | steal/stole/stolen | t thing vehicle
benutzen | use | t thing vehicle
putzen | clean | t room openable
mieten | rent | t building vehicle
verlassen/verlässt/verließ/verlassen | leave/left | t building room
zerstören | destroy | t building thing
unterstützen | support | t person abstract
loben | praise | t person
treffen/trifft/traf/getroffen | meet/met | t person
begrüßen | greet | t person
fragen | ask | t person
heiraten/heiratet/heiratete/geheiratet | marry | t person
verfolgen | chase | t animal person
malen | paint | t building animal person
übersetzen/übersetzt/übersetzte/übersetzt | translate | t text
kritisieren | criticize | t abstract person
vermissen | miss | t person animal
beobachten | watch | t person animal
hören | hear/heard | t person animal
bezahlen | pay/paid for | t food text clothes
bestellen | order | t food drink thing
verstecken | hide/hid/hidden | t thing text
helfen/hilft/half/geholfen | help | d person
danken | thank | d person
folgen* | follow | d person animal
gratulieren | congratulate | d person
vertrauen | trust | d person
zu-hören | listen to | d person
widersprechen/widerspricht/widersprach/widersprochen | contradict | d person
warten | wait for | p:auf:a person vehicle text
denken/denkt/dachte/gedacht | think/thought of | p:an:a person abstract event
sprechen/spricht/sprach/gesprochen | speak/spoke/spoken with | p:mit:d person
reden | talk about | p:über:a event abstract person
nach-denken/denkt/dachte/gedacht | think/thought about | p:über:a abstract
träumen | dream of | p:von:d event vehicle building
lachen | laugh at | p:über:a abstract text
arbeiten | work on | p:an:d text abstract
spielen | play with | p:mit:d animal person
teil-nehmen/nimmt/nahm/genommen | take/took/taken part in | p:an:d event
erinnern/erinnert/erinnerte/erinnert | remember | rp:an:a person event abstract
freuen | look forward to | rp:auf:a event
kümmern | take/took/taken care of | rp:um:a animal person
beschweren | complain about | rp:über:a abstract person
entschuldigen | apologize to | rp:bei:d person
unterhalten/unterhält/unterhielt/unterhalten | chat with | rp:mit:d person
geben/gibt/gab/gegeben | give/gave/given | b thing text food
zeigen | show/showed/shown | b thing text building vehicle
schicken | send/sent | b text thing
schenken | give/gave/given | b thing text clothes
bringen/bringt/brachte/gebracht | bring/brought | b food drink thing
leihen/leiht/lieh/geliehen | lend/lent | b vehicle text thing
vor-lesen/liest/las/gelesen | read/read | b text
versprechen/verspricht/versprach/versprochen | promise | b thing event
empfehlen/empfiehlt/empfahl/empfohlen | recommend to | b text event
schlafen/schläft/schlief/geschlafen | sleep/slept | i
lachen | laugh | i
weinen | cry | i
tanzen | dance | i
singen/singt/sang/gesungen | sing/sang/sung | i
schwimmen/schwimmt/schwamm/geschwommen* | swim/swam/swum | i
an-kommen/kommt/kam/gekommen* | arrive | i
auf-stehen/steht/stand/gestanden* | get/got +up | i
ein-schlafen/schläft/schlief/geschlafen* | fall/fell/fallen asleep | i
zurück-kommen/kommt/kam/gekommen* | come/came/come +back | i
auf-wachen* | wake/woke/woken +up | i
weg-laufen/läuft/lief/gelaufen* | run/ran/run +away | i
ein-kaufen | go/went/gone shopping | i
verschwinden/verschwindet/verschwand/verschwunden* | disappear | i
gehen/geht/ging/gegangen* | go/went/gone | g
fahren/fährt/fuhr/gefahren* | drive/drove/driven | g
laufen/läuft/lief/gelaufen* | run/ran/run | g
kommen/kommt/kam/gekommen* | come/came/come | g
reisen* | travel | g
um-ziehen/zieht/zog/gezogen* | move | g
wohnen | live | l
arbeiten | work | l
warten | wait | l
sitzen/sitzt/saß/gesessen | sit/sat | l
"""

# Names of persons by gender; cities in German and English.
FIRST_NAMES = {
    "m": "thomas peter paul max felix jan lukas michael martin stefan karl jonas david simon oskar emil anton",
    "f": "anna maria julia laura lena sophie clara eva emma lisa katharina nina helga ingrid petra sarah johanna",
}
LAST_NAMES = (
    "müller schmidt schneider fischer weber meyer wagner becker schulz hoffmann koch richter klein wolf schröder "
    "neumann schwarz braun krüger hofmann hartmann lange werner krause lehmann köhler herrmann könig walter mayer "
    "huber kaiser"
)
CITIES = """
berlin berlin; hamburg hamburg; münchen munich; köln cologne; wien vienna; frankfurt frankfurt; zürich zurich
paris paris
london london; rom rome; madrid madrid; prag prague; warschau warsaw; dresden dresden; leipzig leipzig; brüssel brussels
deutschland germany; frankreich france; italien italy; spanien spain; polen poland; österreich austria; england england
griechenland greece; japan japan; china china; indien india; kanada canada; schweden sweden; nürnberg nuremberg
"""
PAST_TIMES = """
gestern yesterday; letzte_woche last_week; heute_morgen this_morning; gestern_abend last_night; letztes_jahr last_year
vorgestern the_day_before_yesterday; im_sommer in_the_summer; damals at_that_time; am_morgen in_the_morning
nach_dem_essen after_the_meal; vor_kurzem recently; in_der_nacht in_the_night; vor_einem_jahr a_year_ago
am_wochenende on_the_weekend; letzten_monat last_month; während_der_reise during_the_trip
"""
PRESENT_TIMES = """
heute today; jeden_tag every_day; am_abend in_the_evening; am_wochenende on_the_weekend; jeden_morgen every_morning
im_winter in_the_winter; nach_der_arbeit after_work; jetzt now; in_den_ferien during_the_holidays
im_moment at_the_moment
nach_dem_essen after_the_meal; jede_woche every_week; am_nachmittag in_the_afternoon
"""
FUTURE_TIMES = """
morgen tomorrow; nächste_woche next_week; bald soon; heute_abend tonight; übermorgen the_day_after_tomorrow
später later
nächstes_jahr next_year; morgen_früh tomorrow_morning; in_zukunft in_the_future; nächsten_monat next_month
"""
WEEKDAYS = """
montag monday; dienstag tuesday; mittwoch wednesday; donnerstag thursday; freitag friday; samstag saturday
sonntag sunday
"""
FREQUENCIES = "oft often; immer always; manchmal sometimes; nie never; selten rarely; wirklich really; meistens usually"
MANNERS = "schnell quickly; langsam slowly; heimlich secretly; gemeinsam together; allein alone; sorgfältig carefully"

# As in VERBS: verbs of saying and thinking, followed by a clause with "dass"; and verbs followed by an infinitive.
SAYING_VERBS = """
glauben | think/thought | i
sagen | say/said | i
hoffen | hope | i
hören | hear/heard | i
denken/denkt/dachte/gedacht | think/thought | i
behaupten | claim | i
sehen/sieht/sah/gesehen | see/saw/seen | i
bedauern | regret | i
vergessen/vergisst/vergaß/vergessen | forget/forgot/forgotten | i
verstehen/versteht/verstand/verstanden | understand/understood | i
"""
INFINITIVE_VERBS = """
versuchen | try | i
hoffen | hope | i
beschließen/beschließt/beschloss/beschlossen | decide | i
an-fangen/fängt/fing/gefangen | start | i
vergessen/vergisst/vergaß/vergessen | forget/forgot/forgotten | i
planen | plan | i
versprechen/verspricht/versprach/versprochen | promise | i
"""
# Followed by "ob", "warum", "wann" and by "dass".
DOUBTS = """
ich_weiß_nicht i_do_not_know; wir_wissen_nicht we_do_not_know; niemand_weiß nobody_knows; ich_frage_mich i_wonder
er_fragt_sich he_wonders; sie_wollte_wissen she_wanted_to_know; es_ist_nicht_klar it_is_not_clear; weißt_du do_you_know
"""
FACTS = """
es_ist_schön it_is_nice; es_ist_schade it_is_a_pity; es_ist_möglich it_is_possible; ich_bin_sicher i_am_sure
es_ist_wichtig it_is_important; alle_wissen everyone_knows; es_ist_klar it_is_clear; wir_sind_froh we_are_glad
"""
DOUBTING = "ob whether; warum why; wann when"
CONDITIONS = """
ich_zeit_hätte i_had_time; er_mehr_geld_hätte he_had_more_money; wir_reich_wären we_were_rich
sie_nicht_krank_wäre she_were_not_ill; das_wetter_besser_wäre the_weather_were_better; ich_du_wäre i_were_you
"""
OPENINGS = """
vielleicht perhaps; leider unfortunately; deshalb therefore; natürlich of_course; dann then; zum_glück fortunately
trotzdem nevertheless; außerdem moreover; zum_beispiel for_example; plötzlich suddenly; endlich finally
in_der_tat indeed
"""
COURTESIES = """
guten_morgen_! good_morning_!; guten_abend_! good_evening_!; wie_geht_es_ihnen_? how_are_you_?
vielen_dank_! thank_you_!
bis_morgen_! see_you_tomorrow_!; es_regnet_. it_is_raining_.; es_schneit_. it_is_snowing_.; auf_wiedersehen_! goodbye_!
wie_spät_ist_es_? what_time_is_it_?; es_tut_mir_leid_. i_am_sorry_.; keine_ahnung_. no_idea_.
was_ist_los_? what_is_wrong_?
"""
