# cmake -DFILE=a.rules -DOUTPUT=out.cpp -P embed.cmake
file(READ ${FILE} rules)
get_filename_component(name ${FILE} NAME)
file(WRITE ${OUTPUT} "#include \"legal/default_rules.h\"

namespace mrvlc::accel {

const std::string_view kDefaultRulesName = \"${name}\";
const std::string_view kDefaultRulesText = R\"RULES(${rules})RULES\";

}  // namespace mrvlc::accel
")
